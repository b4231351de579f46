import { Transient } from '../errors.js';
import type * as api from '../wire/api.js';
import type { Body } from '../wire/form.js';
import type { OwnedRun } from './owned-run.js';

/** Keeps a run for its worker, by a request at each third of the lease. */
export class Lease {
  private readonly ending = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly run: OwnedRun,
    private readonly leaseMs: number,
  ) {}

  keep(): void {
    this.timer = setTimeout(() => void this.renew(), this.leaseMs / 3);
  }

  end(): void {
    this.ending.abort();
    clearTimeout(this.timer);
  }

  private async renew(): Promise<void> {
    const body = { leaseMs: this.leaseMs } satisfies Body<api.RenewBody>;
    try {
      await this.run.write('PUT', '/lease', { body, signal: this.ending.signal });
    } catch (error) {
      if (this.ending.signal.aborted) return;
      // While the server is away nothing is known: it says whether the lease is lost once it is back.
      if (!(error instanceof Transient)) return this.run.halting.halt(error as Error, true);
    }
    if (!this.ending.signal.aborted) this.keep();
  }
}
