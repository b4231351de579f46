import type { AgentContext } from './context.js';
import { Parked, Unanswered } from './halt.js';
import type { Decision, QuestionView } from './views.js';

/** A question that ends without a decision wakes nothing, so it is read from time to time. */
const READ_AGAIN_MS = 10_000;

/** A question that has a decision. */
export type Decided = QuestionView & { readonly decision: Decision };

/** Waits until a question is decided. A stop ends the wait. */
export function untilDecided(context: AgentContext, question: QuestionView, deadlineMs = Infinity): Promise<Decided> {
  return context.halting.during((signal) => wait(context, question, deadlineMs, signal));
}

async function wait(context: AgentContext, question: QuestionView, deadlineMs: number, signal: AbortSignal): Promise<Decided> {
  const parkAt = performance.now() + context.parkAfterMs;
  let current = question;
  while (current.state === 'open') {
    const patience = parkAt - performance.now();
    if (patience <= 0 && !context.busy.isBusy) throw parked(context, current.key);
    const readAgain = patience > 0 ? Math.min(READ_AGAIN_MS, deadlineMs, patience) : READ_AGAIN_MS;
    await context.watch.decision(current.key, readAgain, signal);
    current = await context.owned.question(current.key, { signal });
  }
  const { key, state, decision } = current;
  if (decision === null) throw new Unanswered(key, state === 'withdrawn' ? state : 'expired');
  return { ...current, decision };
}

/** The whole run rests, not only the agent that waits. */
function parked(context: AgentContext, key: string): Parked {
  const reason = new Parked(key);
  context.owned.halting.halt(reason, false);
  return reason;
}
