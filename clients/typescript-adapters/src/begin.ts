import type { ModelMessage } from 'ai';
import { Call, type Generation } from './call.js';
import { inOwnRun } from './own-run.js';
import { currentPlace } from './place.js';

/** What a call begins with. */
export interface Beginning {
  readonly prompt?: string | ModelMessage[];
  readonly messages?: ModelMessage[];
  readonly abortSignal?: AbortSignal;
}

/** Does the work of a call, from its messages on. */
export type Work<G extends Generation> = (call: Call, messages: ModelMessage[]) => Promise<G>;

/** Begins a call in the run that the code belongs to, or in one of its own. */
export async function begin<G extends Generation>({ abortSignal }: Beginning, messages: ModelMessage[], work: Work<G>): Promise<G> {
  const place = currentPlace();
  if (place === undefined) return inOwnRun(messages, (own) => work(new Call(own, abortSignal), messages));
  return work(new Call(place, abortSignal), messages);
}

/** The messages that a call begins with. */
export function messagesOf({ prompt = [], messages }: Beginning): ModelMessage[] {
  return messages ?? (typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt);
}

/** The results of calls that have ended. */
export class EndedCalls<R extends object> {
  private readonly results = new WeakMap<ModelMessage, R>();

  /** Code that asks people itself calls again with their decisions. Here none is left to make, so there is nothing to go on with. */
  resultOf(messages: readonly ModelMessage[]): R | undefined {
    const [last, decisions] = messages.slice(-2);
    const isOver = decisions?.role === 'tool' && decisions.content.length === 0;
    return isOver && last !== undefined ? this.results.get(last) : undefined;
  }

  add(responseMessages: readonly ModelMessage[], result: R): void {
    const end = responseMessages.at(-1);
    if (end !== undefined) this.results.set(end, result);
  }
}
