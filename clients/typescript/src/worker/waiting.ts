import { saying } from '../wire/waiting.js';
import type { AgentContext } from './context.js';
import { Parked } from './halt.js';
import type { QuestionView } from './views.js';

/** A question that ends without a decision wakes nothing, so it is read from time to time. */
const READ_AGAIN_MS = 10_000;

/** Waits until a question is over. A stop ends the wait. */
export function untilOver(context: AgentContext, question: QuestionView, deadlineMs = Infinity): Promise<QuestionView> {
  const waiting = context.halting.during((signal) => wait(context, question, deadlineMs, signal));
  // A worker of many runs puts this one aside.
  if (context.parkAfterMs !== Infinity || question.state !== 'open') return waiting;
  return saying(context.owned.onWait, `${question.agentId} waits for a person: ${question.reason}`, waiting);
}

async function wait(context: AgentContext, question: QuestionView, deadlineMs: number, signal: AbortSignal): Promise<QuestionView> {
  const parkAt = performance.now() + context.parkAfterMs;
  let current = question;
  while (current.state === 'open') {
    const patience = parkAt - performance.now();
    // The whole run rests then, not only the agent that waits.
    if (patience <= 0 && !context.busy.isBusy) context.owned.halting.halt(new Parked(current.key), false);
    signal.throwIfAborted();
    const readAgain = patience > 0 ? Math.min(READ_AGAIN_MS, deadlineMs, patience) : READ_AGAIN_MS;
    await context.watch.decision(current.key, readAgain, signal);
    current = await context.owned.question(current.key, { signal });
  }
  return current;
}
