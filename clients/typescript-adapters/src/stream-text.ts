/** Refuses: what was streamed is gone when its process dies. */
export async function streamText(..._options: unknown[]): Promise<never> {
  throw new Error('a stream does not survive its process: use `generateText` or `generate`, or import `streamText` from `ai`');
}
