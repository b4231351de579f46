export { Router, type RouterOptions, type RunOrder } from './router.js';
export type { LocalOptions, LocalServer } from './local.js';
export { Workflow, type Definition, type KindOf, type Route, type Routes } from './worker/workflow.js';
export { closed, type ClosedSchema, type FromSchema, type Schema } from './worker/schema.js';
export type { Run } from './worker/run.js';
export type { Agent, AgentReport, Question } from './worker/agent.js';
export type { Effect, EffectOptions } from './worker/effect.js';
export type { Answered, Approved, Decided, Declined, Rerouted, Withdrawn } from './worker/decided.js';
export type { Routed } from './worker/routed.js';
export type { Handler } from './worker/execution.js';
export type { WorkOptions } from './worker/work.js';
export { Cancelled, EffectUnkept, EffectUnknown, Parked, Released, Stopped, Unfilled } from './worker/halt.js';
export type {
  ChatMessage,
  Checkpoint,
  Decision,
  Dialect,
  FillTask,
  InterruptRequest,
  Message,
  Model,
  NarrowedSchema,
  Signals,
  Stop,
  WorkView,
} from './worker/views.js';
export { Operator } from './people/operator.js';
export type * from './people/orders.js';
export type { Feed, FeedEvent, FeedOptions } from './people/feed.js';
export type * from './people/views.js';
export * from './errors.js';
export type { Json, JsonObject } from './json.js';
export type { Settings } from './wire/settings.js';
