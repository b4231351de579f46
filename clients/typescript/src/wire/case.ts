import { isObject } from '../json.js';
import { OPAQUE, OPAQUE_IN_BODIES } from './api.js';

/** Renames the members of a response: `run_id` becomes `runId`. */
export function camelize(value: unknown): unknown {
  return rename(value, toCamel, (key) => OPAQUE.has(key));
}

/** Renames the members of a body: `threadId` becomes `thread_id`. */
export function snakify(value: unknown): unknown {
  return rename(value, toSnake, (key) => OPAQUE_IN_BODIES.has(toSnake(key)));
}

function rename(value: unknown, to: (key: string) => string, isOpaque: (key: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((it: unknown) => rename(it, to, isOpaque));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, it]) => [to(key), isOpaque(key) ? it : rename(it, to, isOpaque)]);
  return Object.fromEntries(entries) as unknown;
}

function toCamel(key: string): string {
  return key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The name of a member on the wire. */
export function toSnake(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
