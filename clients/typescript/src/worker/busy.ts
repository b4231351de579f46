import { onAbort } from '../wire/on-abort.js';
import { sleep } from '../wire/sleep.js';

/** How long work that was told to end at once may take to do so. */
const GRACE_MS = 5_000;

/** Effects and models that are under way. */
export class Busy {
  private readonly doing = new Set<Promise<unknown>>();

  get isBusy(): boolean {
    return this.doing.size > 0;
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const doing = work();
    this.doing.add(doing);
    return doing.finally(() => this.doing.delete(doing));
  }

  /** Waits until nothing is under way; once `immediate` has fired, for a short time only. */
  async rest(immediate: AbortSignal): Promise<void> {
    const rested = new AbortController();
    const late = new Promise((resolve) => onAbort(immediate, () => resolve(sleep(GRACE_MS, rested.signal))));
    await Promise.race([this.idle(), late]).finally(() => rested.abort());
  }

  private async idle(): Promise<void> {
    while (this.isBusy) await Promise.allSettled(this.doing);
  }
}
