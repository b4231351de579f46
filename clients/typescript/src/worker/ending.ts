/**
 * How the work on many runs ends: no run is taken any more, and only then those under way are let go, for a taking that is under way
 * would have them again.
 */
export class Ending {
  private readonly taking = new AbortController();
  private readonly working = new AbortController();
  private readonly takings = new Set<Promise<unknown>>();

  /** Fires when no run is to be taken any more. */
  get ofTaking(): AbortSignal {
    return this.taking.signal;
  }

  /** Fires when the runs under way are to be let go. */
  get ofWorking(): AbortSignal {
    return this.working.signal;
  }

  begin(): void {
    this.taking.abort();
    void Promise.allSettled(this.takings).then(() => this.working.abort());
  }

  /** Lets the runs under way wait for the end of a taking. */
  async after<T>(taking: Promise<T>): Promise<T> {
    this.takings.add(taking);
    return taking.finally(() => this.takings.delete(taking));
  }
}
