import { LeaseLost, Transient } from '../errors.js';
import type * as api from '../wire/api.js';
import { path } from '../wire/path.js';
import { sleep } from '../wire/sleep.js';
import type { Call, Query, Transport } from '../wire/transport.js';
import type { OnWait } from '../wire/waiting.js';
import { Halting } from './halting.js';
import type { QuestionView, Signals, WorkView } from './views.js';

/** A query of the owner, to which the epoch is added, and how long the server may wait. */
export type InEpoch<Q> = Omit<Q, 'epoch' | 'waitMs'>;

/** What a request below a run consists of. */
interface Part<Q = Query> {
  readonly body?: unknown;
  readonly query?: Q;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

/** A run that this worker owns, in an epoch. */
export class OwnedRun {
  readonly halting = new Halting();
  private readonly base: string;

  constructor(
    private readonly transport: Transport,
    readonly view: WorkView,
  ) {
    this.base = path`/v1/work/${view.runId}`;
  }

  /** Told what a wait is for. */
  get onWait(): OnWait {
    return this.transport.settings.onWait;
  }

  /** Reads something of the run; that needs no lease. */
  read<T>(below: string, part: Part = {}): Promise<T> {
    return this.transport.body<T>({ ...part, method: 'GET', path: this.base + below });
  }

  /** Writes something of the run, in its epoch. */
  write<T>(method: Exclude<Call['method'], 'GET'>, below: string, part: Part = {}): Promise<T> {
    return this.owned<T>({ ...part, method, path: this.base + below });
  }

  /** A question; what was decided counts as taken by this worker. */
  question(key: string, part: Part = {}): Promise<QuestionView> {
    return this.owned<QuestionView>({ ...part, method: 'GET', path: this.base + path`/questions/${key}` });
  }

  /** What came from outside; with `waitMs`, once there is something. */
  signals(part: Part<InEpoch<api.SignalsQuery>> = {}): Promise<Signals> {
    return this.owned<Signals>({ ...part, method: 'GET', path: `${this.base}/signals` });
  }

  /** Keeps it, by a request at each third of the lease, until a signal fires. */
  keep(leaseMs: number, signal: AbortSignal): Promise<void> {
    const body = { leaseMs } satisfies api.RenewBody;
    return this.keepDoing(() => sleep(leaseMs / 3, signal).then(() => this.write('PUT', '/lease', { body, signal })), signal);
  }

  /** Does something again and again until a signal fires. While the server is away nothing is known; any other error ends the work. */
  async keepDoing(step: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await step();
      } catch (error) {
        if (!signal.aborted && !(error instanceof Transient)) return this.halting.halt(error as Error, true);
      }
    }
  }

  private async owned<T>(call: Call): Promise<T> {
    try {
      const epoch = { epoch: this.view.epoch } satisfies api.EpochQuery;
      return await this.transport.body<T>({ ...call, query: { ...epoch, ...call.query } });
    } catch (error) {
      // Whatever the work does from now on is written nowhere.
      if (error instanceof LeaseLost) this.halting.halt(error, true);
      throw error;
    }
  }
}
