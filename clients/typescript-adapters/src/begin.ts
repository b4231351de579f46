import type { ModelMessage } from 'ai';
import { Call, type Result } from './call.js';
import { inOwnRun } from './own-run.js';
import { currentPlace } from './place.js';

/** What a call begins with. */
export interface Beginning {
  readonly prompt?: string | ModelMessage[];
  readonly messages?: ModelMessage[];
  readonly abortSignal?: AbortSignal;
}

/** The results by the last of their messages. */
const results = new WeakMap<ModelMessage, Result>();

/** Begins a call in the run that the code belongs to, or in one of its own. */
export async function begin(beginning: Beginning, work: (call: Call, messages: ModelMessage[]) => Promise<Result>): Promise<any> {
  const { prompt = [], messages = typeof prompt === 'string' ? [{ role: 'user', content: prompt }] : prompt, abortSignal } = beginning;
  // Code that asks people itself calls again with their decisions. Here none is left to make, so there is nothing to go on with.
  const [last, decisions] = messages.slice(-2);
  const isOver = decisions?.role === 'tool' && decisions.content.length === 0;
  const ended = isOver && last !== undefined ? results.get(last) : undefined;
  if (ended !== undefined) return ended;
  const place = currentPlace();
  const result = await (place === undefined
    ? inOwnRun(messages, (own) => work(new Call(own, abortSignal), messages))
    : work(new Call(place, abortSignal), messages));
  const end = result.responseMessages.at(-1);
  if (end !== undefined) results.set(end, result);
  return result;
}
