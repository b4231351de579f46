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

/** What JSON keeps of a value where that is all of it. Throws what cannot be kept, in words, for JSON itself changes much without a word. */
export function wholeJson(value: unknown): unknown {
  const check = function (this: Readonly<Record<string, unknown>>, name: string, it: unknown): unknown {
    const lost = lossOf(this[name], it);
    if (lost !== undefined) throw new TypeError(name === '' ? lost : `${lost} at ${JSON.stringify(name)}`);
    return it;
  };
  return JSON.parse(JSON.stringify(value, check) ?? 'null');
}

/** What JSON would lose of a value that it holds as another one. */
function lossOf(value: unknown, held: unknown): string | undefined {
  if (typeof held === 'bigint') return 'a bigint';
  if (typeof held === 'number') return Number.isFinite(held) ? undefined : String(held);
  if (typeof held === 'string') return /\p{Surrogate}/u.test(held) ? 'a text with half a character' : undefined;
  if (typeof held !== 'object' || held === null) return undefined;
  // Sets, maps, bytes, errors, promises and the like have no members of their own that say what they are.
  const tag = (it: unknown): string => Object.prototype.toString.call(it).slice(8, -1);
  const name = ArrayBuffer.isView(value) ? value.constructor.name : tag(held);
  return ['Object', 'Array', 'Number', 'String', 'Boolean'].includes(name) ? undefined : `a ${name}`;
}
