/**
 * Tells the work of a run, or of an agent with those below it, to end. It only gets harder: what was graceful may become immediate,
 * and nothing takes it back.
 */
export class Halting {
  private readonly soft = new AbortController();
  private readonly hard = new AbortController();
  private readonly children: Halting[] = [];

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
    const child = new Halting();
    if (this.signal.aborted) child.halt(this.signal.reason as Error, this.immediate.aborted);
    this.children.push(child);
    return child;
  }

  halt(reason: Error, isImmediate: boolean): void {
    this.soft.abort(reason);
    if (isImmediate) this.hard.abort(this.signal.reason);
    for (const child of this.children) child.halt(reason, isImmediate);
  }
}
