/**
 * A signal that fires when a time is over or when another signal fires. `AbortSignal.any` would do the same, but Node 20 keeps
 * everything that was ever derived from a signal that lives long, such as that of a run.
 */
export class Deadline {
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly relay = (): void => this.controller.abort(this.parent?.reason);
  /** Whether the time ran out. */
  isOver = false;

  constructor(
    ms: number,
    private readonly parent?: AbortSignal,
  ) {
    if (parent?.aborted) this.relay();
    parent?.addEventListener('abort', this.relay, { once: true });
    this.restart(ms);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Begins to count anew. */
  restart(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.isOver = true;
      this.controller.abort();
    }, ms);
  }

  /** Fires now, and counts no more. */
  abort(): void {
    this.dispose();
    this.controller.abort();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.parent?.removeEventListener('abort', this.relay);
  }
}
