import type { ModelMessage } from 'ai';
import { Call, type Result } from './call.js';
import { currentPlace } from './place.js';
import { inOwnRun } from './own-run.js';

/** What a call begins with. */
export interface Beginning {
  readonly prompt?: string | ModelMessage[] | undefined;
  readonly messages?: ModelMessage[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/** The results by the last of their messages. */
const results = new WeakMap<ModelMessage, Result>();

/** Begins a call in the run that the code belongs to, or in one of its own. */
export async function begin(beginning: Beginning, work: (call: Call, messages: ModelMessage[]) => Promise<Result>): Promise<any> {
  const messages = messagesOf(beginning);
  // Code that asks people itself calls again with their decisions. Here none is left to make, so there is nothing to go on with.
  const ended = isEmpty(messages.at(-1)) ? results.get(messages.at(-2) as ModelMessage) : undefined;
  if (ended !== undefined) return ended;
  const place = currentPlace();
  const result = await (place === undefined
    ? inOwnRun(messages, (own) => work(new Call(own, beginning.abortSignal), messages))
    : work(new Call(place, beginning.abortSignal), messages));
  const last = result.responseMessages.at(-1);
  if (last !== undefined) results.set(last, result);
  return result;
}

function messagesOf({ prompt, messages }: Beginning): ModelMessage[] {
  const given = messages ?? prompt ?? [];
  return typeof given === 'string' ? [{ role: 'user', content: given }] : given;
}

function isEmpty(message: ModelMessage | undefined): boolean {
  return message?.role === 'tool' && message.content.length === 0;
}
