import * as sdk from 'ai';
import { type Beginning, EndedCalls, type Work, begin, messagesOf } from './begin.js';
import type { Settings } from './call.js';

type Options = Settings & Beginning;
type Result = sdk.GenerateTextResult<any, any, any>;

const generate = sdk.generateText as unknown as (options: Options) => Promise<Result>;
const ended = new EndedCalls<Result>();

/**
 * `generateText` of the AI SDK that goes on to the end: people approve the tool calls that need it, and nothing happens twice, whatever
 * dies. The `responseMessages` of the result are those of the whole call, with the decisions.
 */
export const generateText = ((options: Options): Promise<Result> =>
  generated(options, (call, given) => {
    const { prompt: _, ...settings } = call.settings(options);
    return call.run(given, (messages, abortSignal) => generate({ ...settings, messages, abortSignal }));
  })) as unknown as typeof sdk.generateText;

/** Generates to the end. */
export async function generated(beginning: Beginning, work: Work<Result>): Promise<any> {
  const messages = messagesOf(beginning);
  const known = ended.resultOf(messages);
  if (known !== undefined) return known;
  const result = await begin(beginning, messages, work);
  ended.add(result.responseMessages, result);
  return result;
}
