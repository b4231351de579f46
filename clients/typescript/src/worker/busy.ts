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
    let timer: ReturnType<typeof setTimeout> | undefined;
    let hurry = (): void => undefined;
    const late = new Promise<void>((resolve) => (hurry = () => void (timer = setTimeout(resolve, GRACE_MS))));
    if (immediate.aborted) hurry();
    immediate.addEventListener('abort', hurry, { once: true });
    const idle = async (): Promise<void> => {
      while (this.isBusy) await Promise.allSettled(this.doing);
    };
    await Promise.race([idle(), late]);
    immediate.removeEventListener('abort', hurry);
    clearTimeout(timer);
  }
}
