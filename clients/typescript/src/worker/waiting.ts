import { path } from '../wire/path.js';
import type { AgentContext } from './context.js';
import { Parked, Unanswered } from './halt.js';
import type { Decision, QuestionView } from './views.js';

/** A question that ends without a decision wakes nothing, so it is read from time to time. */
const READ_AGAIN_MS = 30_000;

/** A question that has a decision. */
export type Decided = QuestionView & { readonly decision: Decision };

/** Waits until a question is decided. A stop ends the wait. */
export async function untilDecided(context: AgentContext, question: QuestionView, deadlineMs = Infinity): Promise<Decided> {
  const parkAt = performance.now() + context.parkAfterMs;
  let current = question;
  while (current.state === 'open') {
    const patience = parkAt - performance.now();
    if (patience <= 0 && !context.busy.isBusy) throw parked(context, current.key);
    const readAgain = patience > 0 ? Math.min(READ_AGAIN_MS, deadlineMs, patience) : READ_AGAIN_MS;
    await context.watch.decision(current.key, readAgain, context.halting.signal);
    current = await readQuestion(context, current.key);
  }
  const { key, state, decision } = current;
  if (decision === null) throw new Unanswered(key, state === 'withdrawn' ? state : 'expired');
  return { ...current, decision };
}

export function readQuestion(context: AgentContext, key: string): Promise<QuestionView> {
  return context.owned.read<QuestionView>(path`/questions/${key}`, { signal: context.halting.signal });
}

/** The whole run rests, not only the agent that waits. */
function parked(context: AgentContext, key: string): Parked {
  const reason = new Parked(key);
  context.owned.halting.halt(reason, false);
  return reason;
}
