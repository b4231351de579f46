/** The AI SDK, with agents that are durable: import from here what you import from `ai`. */
export * from 'ai';
export { durable, slot, type DurableOptions, type ToolEffect } from './place.js';
export { generateText } from './generate-text.js';
export { ToolLoopAgent } from './tool-loop-agent.js';
export { streamText } from './stream-text.js';
