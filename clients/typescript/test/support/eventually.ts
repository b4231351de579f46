import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until a look finds something. */
export async function eventually<T>(look: () => Promise<T | undefined | false> | T | undefined | false, what: string, ms = 30_000): Promise<T> {
  const until = performance.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > until) throw new Error(`timed out: ${what}`);
    await sleep(20);
  }
}
