import * as sdk from 'ai';
import { begin } from './begin.js';
import type { Settings } from './call.js';
import { streamText } from './stream-text.js';

type AnyAgent = sdk.ToolLoopAgent<any, any, any, any>;

/** `ToolLoopAgent` of the AI SDK whose `generate` goes on to the end, as `generateText` does. */
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
    const { prompt: _, ...rest } = parameters as unknown as Parameters<AnyAgent['generate']>[0];
    const { prepareCall } = this.given;
    return begin(parameters, (call, given) => {
      // All settings pass through here, also those that the application changes for this call.
      const prepare = async (settings: any): Promise<Settings> => call.settings((await prepareCall?.(settings)) ?? settings);
      const agent = new sdk.ToolLoopAgent({ ...this.given, prepareCall: prepare } as any) as AnyAgent;
      return call.run(given, (messages, abortSignal) => agent.generate({ ...rest, messages, abortSignal }));
    });
  }

  override stream(): Promise<never> {
    return streamText();
  }
}
