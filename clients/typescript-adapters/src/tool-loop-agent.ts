import * as sdk from 'ai';
import type { Call, Settings } from './call.js';
import { generated } from './generate-text.js';
import type { JoinedSettings } from './joined-stream.js';
import { ofWholeCall, streamed } from './stream-text.js';

type AnyAgent = sdk.ToolLoopAgent<any, any, any, any>;

/** `ToolLoopAgent` of the AI SDK whose `generate` and `stream` go on to the end, as `generateText` and `streamText` do. */
export class ToolLoopAgent<
  CALL_OPTIONS = never,
  TOOLS extends sdk.ToolSet = {},
  RUNTIME_CONTEXT extends Record<string, unknown> = Record<string, unknown>,
  OUTPUT extends sdk.OutputInterface = never,
> extends sdk.ToolLoopAgent<CALL_OPTIONS, TOOLS, RUNTIME_CONTEXT, OUTPUT> {
  constructor(private readonly given: sdk.ToolLoopAgentSettings<CALL_OPTIONS, TOOLS, RUNTIME_CONTEXT, OUTPUT>) {
    super(given);
  }

  override generate(
    parameters: sdk.AgentCallParameters<CALL_OPTIONS, TOOLS, RUNTIME_CONTEXT>,
  ): Promise<sdk.GenerateTextResult<TOOLS, RUNTIME_CONTEXT, OUTPUT>> {
    const { prompt: _, ...rest } = parameters as any;
    return generated(parameters, (call, given) => {
      const agent = this.durable(call, this.given);
      return call.run(given, (messages, abortSignal) => agent.generate({ ...rest, messages, abortSignal }));
    });
  }

  override async stream(
    parameters: sdk.AgentStreamParameters<CALL_OPTIONS, TOOLS, RUNTIME_CONTEXT>,
  ): Promise<sdk.StreamTextResult<TOOLS, RUNTIME_CONTEXT, OUTPUT>> {
    const [callbacks, settings] = ofWholeCall(this.given);
    const [more, { prompt: _, ...rest }] = ofWholeCall(parameters as any);
    const both = {
      onStepEnd: inTurn(callbacks.onStepEnd, more.onStepEnd),
      onEnd: inTurn(callbacks.onEnd, more.onEnd),
      onAbort: callbacks.onAbort,
    };
    return streamed(parameters, this.given as JoinedSettings, both, (call, given, joined) => {
      const agent = this.durable(call, settings);
      const generate = async (messages: sdk.ModelMessage[], abortSignal: AbortSignal) =>
        joined.pass(await agent.stream({ ...rest, messages, abortSignal }));
      return call.run(given, generate, joined.decided);
    });
  }

  private durable(call: Call, settings: object): AnyAgent {
    const { prepareCall } = this.given;
    // All settings pass through here, also those that the application changes for this call.
    const prepare = async (prepared: any): Promise<Settings> => call.settings((await prepareCall?.(prepared)) ?? prepared);
    return new sdk.ToolLoopAgent({ ...settings, prepareCall: prepare } as any);
  }
}

type Callback = ((event: unknown) => unknown) | undefined;

function inTurn(first: Callback, second: Callback): Callback {
  return async (event) => {
    await first?.(event);
    await second?.(event);
  };
}
