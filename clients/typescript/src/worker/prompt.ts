import type { Misfit } from '../errors.js';
import type { ChatMessage, Decision, QuestionView } from './views.js';

/** What a model is told at first: what to fill in, and what was decided. */
export function task(field: string, question: QuestionView, decision: Decision): ChatMessage {
  const confirmed = Object.entries(decision.confirmations).map(([item, yes]) => `Confirmed \`${item}\`: ${yes ? 'yes' : 'no'}`);
  const lines = [
    `Fill in the request \`${field}\`. Answer with one JSON object that has this property and no other.`,
    `The agent ${question.kind} asked: ${question.reason}`,
    `${decision.by} decided: ${decision.decision}`,
    ...(decision.choices.length > 0 ? [`Chosen: ${decision.choices.join(', ')}`] : []),
    ...confirmed,
    ...(decision.text ? [`In their words: ${decision.text}`] : []),
  ];
  return { role: 'user', content: lines.join('\n') };
}

/** An answer that was refused, and why. */
export function rejection(answer: unknown, errors: readonly Misfit[]): ChatMessage[] {
  const mistakes = errors.map((it) => `- ${it.pointer || '/'}: ${it.message}`).join('\n');
  return [
    { role: 'assistant', content: typeof answer === 'string' ? answer : JSON.stringify(answer) },
    { role: 'user', content: `That does not fit the schema:\n${mistakes}\nAnswer again, with JSON only.` },
  ];
}
