import * as sdk from 'ai';
import { type Beginning, EndedCalls, begin, messagesOf } from './begin.js';
import type { Call, Generation, Settings } from './call.js';
import { type JoinedSettings, JoinedStream, type StreamResult, type WholeCallCallbacks } from './joined-stream.js';

type Options = Settings & Beginning & JoinedSettings;
type Work = (call: Call, messages: sdk.ModelMessage[], joined: JoinedStream) => Promise<Generation>;

const stream = sdk.streamText as unknown as (options: Options) => StreamResult;
const ended = new EndedCalls<StreamResult>();

/**
 * `streamText` of the AI SDK whose stream goes on to the end: people approve the tool calls that need it, and nothing happens twice,
 * whatever dies. What arrived before a death is streamed again.
 */
export const streamText = ((options: Options): StreamResult => {
  const [callbacks, settings] = ofWholeCall(options);
  return streamed(options, options, callbacks, (call, given, joined) => {
    const { prompt: _, ...durable } = call.settings(settings);
    const generate = (messages: sdk.ModelMessage[], abortSignal: AbortSignal): Promise<Generation> =>
      joined.pass(stream({ ...durable, messages, abortSignal }));
    return call.run(given, generate, joined.decided);
  });
}) as unknown as typeof sdk.streamText;

/** Streams to the end. */
export function streamed(beginning: Beginning, settings: JoinedSettings, callbacks: WholeCallCallbacks, work: Work): any {
  const messages = messagesOf(beginning);
  const known = ended.resultOf(messages);
  if (known !== undefined) return known;
  const joined = new JoinedStream(settings, callbacks);
  begin(beginning, messages, (call, given) => work(call, given, joined)).then(
    () => joined.end(),
    (error) => joined.end(error),
  );
  const { result } = joined;
  // This also reads the stream: the call goes on, whether or not the code looks.
  result.responseMessages.then(
    (it) => ended.add(it, result),
    () => undefined,
  );
  return result;
}

/** Parts callbacks about the whole call from what each generation of it gets. */
export function ofWholeCall<S extends object>(options: S): [callbacks: WholeCallCallbacks, rest: S] {
  const { onStepFinish, onStepEnd = onStepFinish, onFinish, onEnd = onFinish, onAbort, ...rest } = options as any;
  return [{ onStepEnd, onEnd, onAbort }, rest];
}
