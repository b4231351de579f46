/** A body for the server. What is `undefined` is left out of it. */
export type Body<T> = T extends readonly (infer E)[]
  ? readonly Body<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Body<T[K]> | (object extends Pick<T, K> ? undefined : never) }
    : T;

/** An answer to people: the server leaves out what it does not have, although its document allows `null`, too. */
export type Sparse<T> = T extends readonly (infer E)[]
  ? readonly Sparse<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Sparse<Exclude<T[K], null>> }
    : T;

/** An answer to workers: the server says `null` for what it does not have, although its document allows to leave it out, too. */
export type Full<T> = { readonly [K in keyof T]-?: T[K] };

/**
 * What users see of a form of the server: the members that are named, so that one which goes away is an error here and not in their
 * code, and those of which more is true than its document says, such as a few words where it says text.
 */
export type Seen<T, K extends keyof T, M extends { readonly [N in keyof M]: N extends keyof T ? T[N] : never } = object> = Pick<T, K> & M;
