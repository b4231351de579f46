import * as sdk from 'ai';
import { begin } from './begin.js';
import type { Result, Settings } from './call.js';

interface Options extends Settings {
  readonly prompt?: string | sdk.ModelMessage[];
  readonly messages?: sdk.ModelMessage[];
  readonly abortSignal?: AbortSignal;
}

const generate = sdk.generateText as unknown as (options: Options) => Promise<Result>;

/**
 * `generateText` of the AI SDK that goes on to the end: people approve the tool calls that need it, and nothing happens twice, whatever
 * dies. The `responseMessages` of the result are those of the whole call, with the decisions.
 */
export const generateText = ((options: Options): Promise<Result> => {
  const { prompt, messages, ...settings } = options;
  return begin({ prompt, messages, abortSignal: options.abortSignal }, (call, given) => {
    const durable = call.settings(settings);
    return call.run(given, (messages, abortSignal) => generate({ ...durable, messages, abortSignal }));
  });
}) as unknown as typeof sdk.generateText;
