/** A value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** An object of JSON. */
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What JSON keeps of a value: the same that a later worker reads. `undefined` becomes `null`. */
export function throughJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? 'null');
}
