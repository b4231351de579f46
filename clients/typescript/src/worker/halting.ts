/**
 * Tells the work of a run, or of an agent with those below it, to end. It only gets harder: what was graceful may become immediate,
 * and nothing takes it back.
 */
export class Halting {
  private readonly soft = new AbortController();
  private readonly hard = new AbortController();
  private readonly children = new Set<Halting>();

  /** `told` has the reasons that code has heard of, at whichever of its boundaries. */
  constructor(private readonly told = new Set<unknown>()) {}

  /** Fires when the work has to end, at its next boundary. The reason is the error that boundaries throw. */
  get signal(): AbortSignal {
    return this.soft.signal;
  }

  /** Fires when the work has to end at once. */
  get immediate(): AbortSignal {
    return this.hard.signal;
  }

  /** That of an agent below. */
  child(): Halting {
    const child = new Halting(this.told);
    if (this.signal.aborted) child.halt(this.signal.reason as Error, this.immediate.aborted);
    this.children.add(child);
    return child;
  }

  /** Whether the work has to end and its code has heard so. What it makes of that, such as a result without an answer, is not its result. */
  get isKnown(): boolean {
    return this.signal.aborted && this.told.has(this.signal.reason);
  }

  /**
   * A boundary of the work: it begins nothing once the work has to end. Code that ends early drops what it had begun, which ends by
   * the same error, so that is no rejection which nothing handles.
   */
  boundary<T>(work: () => Promise<T>): Promise<T> {
    const working = this.pass(work);
    working.catch(() => undefined);
    return working;
  }

  private async pass<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.signal.throwIfAborted();
      return await work();
    } catch (error) {
      if (this.signal.aborted) this.told.add(this.signal.reason);
      throw error;
    }
  }

  /**
   * Does something that a stop wakes, with a signal of its own: many that wait for one signal together look like a leak to Node, and
   * what has ended must not stay with a signal that lives on.
   */
  async during<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const child = this.child();
    try {
      return await work(child.signal);
    } finally {
      this.children.delete(child);
    }
  }

  halt(reason: Error, isImmediate: boolean): void {
    this.soft.abort(reason);
    if (isImmediate) this.hard.abort(this.signal.reason);
    for (const child of this.children) child.halt(reason, isImmediate);
  }
}
