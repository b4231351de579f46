import type { Query, Transport } from '../wire/transport.js';

/** A part of a list. */
interface Page {
  readonly nextCursor?: string | null;
}

/** Reads a list to its end, part by part. */
export async function* pages<P extends Page, T>(
  transport: Transport,
  path: string,
  member: Exclude<keyof P, keyof Page>,
  query: Query = {},
): AsyncGenerator<T, void, undefined> {
  let cursor: string | undefined;
  do {
    const page: P = await transport.body<P>({ method: 'GET', path, query: { ...query, cursor } });
    yield* page[member] as readonly T[];
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
