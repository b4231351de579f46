import { createHash, randomBytes } from 'node:crypto';

/** Repeats the same choices, as far as the machine's timing lets them. */
export const SEED = process.env['CRASH_SEED'] ?? randomBytes(4).toString('hex');

/** Choices of a seed, each from 0 up to 1. */
export function chance(name: string): () => number {
  let count = 0;
  return () => createHash('sha256').update(`${SEED} ${name} ${count++}`).digest().readUInt32BE() / 2 ** 32;
}
