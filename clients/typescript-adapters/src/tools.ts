import type { ToolExecutionOptions, ToolSet } from 'ai';

/** Executes a tool, and gives its output: that of an earlier worker where there is one. */
export type Execute = (name: string, input: unknown, toolCallId: string, execute: () => unknown) => Promise<unknown>;

/** Tools that are executed once, whatever dies. */
export function durableTools(tools: ToolSet, once: Execute): ToolSet {
  const wrapped = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool;
    if (execute === undefined) return [name, tool];
    const durable = (input: unknown, options: ToolExecutionOptions<any>): Promise<unknown> =>
      once(name, input, options.toolCallId, () => lastOf(execute.call(tool, input as never, options)));
    return [name, { ...tool, execute: durable }];
  });
  return Object.fromEntries(wrapped) as ToolSet;
}

/** The output: of a tool that reports on its way, the last report. */
async function lastOf(output: unknown): Promise<unknown> {
  const settled = await output;
  if (typeof settled !== 'object' || settled === null || !(Symbol.asyncIterator in settled)) return settled;
  let last: unknown;
  for await (last of settled as AsyncIterable<unknown>);
  return last;
}
