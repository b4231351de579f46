/** After this time a wait says what it waits for. */
export const SOON_MS = 1_000;

/** Told what a wait is for that takes longer than a second. */
export type OnWait = (what: string) => void;

/** Waits, and says for what where that takes longer. */
export async function saying<T>(onWait: OnWait, what: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => onWait(what), SOON_MS);
  return work.finally(() => clearTimeout(timer));
}
