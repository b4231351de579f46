import type { Query, Transport } from '../wire/transport.js';

/** Reads a list to its end, part by part. */
export async function* pages<T>(transport: Transport, path: string, member: string, query: Query = {}): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const call = { method: 'GET', path, query: { ...query, cursor } } as const;
    const page = await transport.body<Record<string, unknown>>(call);
    yield* page[member] as T[];
    cursor = (page['nextCursor'] as string | null | undefined) ?? undefined;
  } while (cursor !== undefined);
}
