import type { wrapLanguageModel } from 'ai';
import { asJson, revived } from './as-json.js';

export type Streamed = Awaited<ReturnType<ReturnType<typeof wrapLanguageModel>['doStream']>>;
type Part = Streamed['stream'] extends ReadableStream<infer P> ? P : never;

/** Calls a model, and gives what is kept of its answer to what it is asked: that of an earlier worker where there is one. */
export type Keep = (call: () => Promise<unknown>, asked: unknown) => Promise<unknown>;

/**
 * Passes an answer on while it arrives. Its end waits until it is kept: with that the SDK executes tools, and what follows from an answer
 * must follow from the same answer for ever. A kept answer is passed on at once.
 */
export function durableStream(doStream: () => PromiseLike<Streamed>, asked: unknown, keep: Keep): Promise<Streamed> {
  const { readable, writable } = new TransformStream<Part, Part>();
  const out = writable.getWriter();
  let passed = 0;
  let hasFailed = false;
  return new Promise((begin, fail) => {
    const call = async (): Promise<unknown> => {
      const { stream } = await doStream();
      begin({ stream: readable });
      const parts: Part[] = [];
      let isAtEnd = false;
      for await (const part of stream as ReadableStream<Part> & AsyncIterable<Part>) {
        add(parts, part);
        isAtEnd ||= part.type === 'finish';
        if (isAtEnd) continue;
        await out.write(part);
        passed = parts.length;
        if (part.type !== 'error') continue;
        hasFailed = true;
        throw part.error;
      }
      return asJson(parts);
    };
    const pass = async (): Promise<void> => {
      const parts = (await keep(call, asked)) as Part[];
      begin({ stream: readable });
      for (const part of parts.slice(passed)) await out.write(part.type === 'response-metadata' ? revived(part) : part);
      await out.close();
    };
    pass().catch((error) => {
      fail(error);
      // The part that failed was passed on and says why, so the stream ends as it does without the router.
      void (hasFailed ? out.close() : out.abort(error)).catch(() => undefined);
    });
  });
}

/** Keeps what arrived in pieces as one, and nothing of the wire. */
function add(parts: Part[], part: Part): void {
  const last = parts.at(-1);
  if (part.type === 'raw' || part.type === 'ping' || part.type === 'error') return;
  if (last === undefined || !isPiece(last) || !isPiece(part) || last.type !== part.type || last.id !== part.id) parts.push(part);
  else parts[parts.length - 1] = { ...last, delta: last.delta + part.delta };
}

function isPiece(part: Part): part is Extract<Part, { delta: string }> {
  return 'delta' in part && part.providerMetadata === undefined;
}
