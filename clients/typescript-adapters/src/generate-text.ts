import * as sdk from 'ai';
import { type Beginning, begin } from './begin.js';
import type { Result, Settings } from './call.js';

type Options = Settings & Beginning;

const generate = sdk.generateText as unknown as (options: Options) => Promise<Result>;

/**
 * `generateText` of the AI SDK that goes on to the end: people approve the tool calls that need it, and nothing happens twice, whatever
 * dies. The `responseMessages` of the result are those of the whole call, with the decisions.
 */
export const generateText = ((options: Options): Promise<Result> =>
  begin(options, (call, given) => {
    const { prompt: _, ...settings } = call.settings(options);
    return call.run(given, (messages, abortSignal) => generate({ ...settings, messages, abortSignal }));
  })) as unknown as typeof sdk.generateText;
