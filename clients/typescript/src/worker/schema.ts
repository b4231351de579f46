import type { Json } from '../json.js';

/** A JSON Schema. */
export type Schema = { readonly [keyword: string]: Json };

/** An object of a schema that takes no other members than those that it names. */
export interface ClosedSchema<P extends Properties, O extends string> {
  readonly [keyword: string]: Json;
  readonly type: 'object';
  readonly additionalProperties: false;
  readonly required: readonly Exclude<keyof P & string, O>[];
  readonly properties: P;
}

type Properties = { readonly [name: string]: Schema };

/**
 * The schema of a closed object: it takes these properties and no others, and each of them is required unless it is in `optional`.
 *
 * ```ts
 * closed({ cents: { type: 'integer', minimum: 1 }, note: { type: 'string', maxLength: 200 } }, ['note'])
 * ```
 */
export function closed<const P extends Properties, const O extends keyof P & string = never>(
  properties: P,
  optional: readonly O[] = [],
): ClosedSchema<P, O> {
  const isRequired = (name: string): name is Exclude<keyof P & string, O> => !optional.some((it) => it === name);
  return { type: 'object', additionalProperties: false, required: Object.keys(properties).filter(isRequired), properties };
}

/** The type of the values that a schema takes, as far as it says so; `unknown` for the rest. */
export type FromSchema<S> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly anyOf: readonly (infer A)[] }
      ? FromSchema<A>
      : S extends { readonly type: 'object'; readonly properties: infer P }
        ? ObjectOf<P, RequiredOf<S>>
        : S extends { readonly type: 'array'; readonly items: infer I }
          ? readonly FromSchema<I>[]
          : S extends { readonly type: readonly (infer T)[] }
            ? Named<T>
            : S extends { readonly type: infer T }
              ? Named<T>
              : unknown;

type RequiredOf<S> = S extends { readonly required: readonly (infer R)[] } ? R : never;

type ObjectOf<P, R> = Flat<
  { readonly [K in keyof P as K extends R ? K : never]: FromSchema<P[K]> } & {
    readonly [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>;
  }
>;

type Flat<T> = { [K in keyof T]: T[K] };

type Named<T> = T extends keyof Names ? Names[T] : unknown;

type Names = { string: string; integer: number; number: number; boolean: boolean; null: null };
