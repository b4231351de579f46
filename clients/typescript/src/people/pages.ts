import type { Query, Transport } from '../wire/transport.js';

/** Reads a list to its end, part by part. */
export async function* pages<P extends { readonly nextCursor?: string }, T>(
  transport: Transport,
  path: string,
  member: Exclude<keyof P, 'nextCursor'>,
  query: Query = {},
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page: P = await transport.body<P>({ method: 'GET', path, query: { ...query, cursor } });
    yield* page[member] as readonly T[];
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}
