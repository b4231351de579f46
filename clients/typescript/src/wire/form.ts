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
 * A form of the server whose document says less of some members than is true, such as text where there are few words. Each of them has
 * to be a member of the form, and fit it.
 */
export type Narrowed<T, M extends { readonly [K in keyof M]: K extends keyof T ? T[K] : never }> = Omit<T, keyof M> & M;
