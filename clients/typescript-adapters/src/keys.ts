import { createHash } from 'node:crypto';

const VALID = /^[A-Za-z0-9\-_.:~]{1,150}$/;

/** The key of a question or an effect. The same parts always give the same key, whatever a provider puts into the id of a tool call. */
export function keyOf(...parts: readonly (string | number)[]): string {
  const joined = parts.join(':');
  return VALID.test(joined) ? joined : digest(parts);
}

/** Tells what is JSON apart. */
export function digest(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
