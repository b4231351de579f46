import { onAbort } from './on-abort.js';

/**
 * A signal that fires when a time is over or when another signal fires. `AbortSignal.any` would do the same, but Node 20 keeps
 * everything that was ever derived from a signal that lives long, such as that of a run.
 */
export class Deadline {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly forget: () => void;
  /** Whether the time ran out. */
  isOver = false;

  constructor(ms: number, parent?: AbortSignal) {
    this.forget = onAbort(parent, () => this.controller.abort(parent?.reason));
    this.restart(ms);
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
    this.forget();
  }
}
