import { LeaseLost, RunFinished, Transient } from '../errors.js';
import { onAbort } from '../wire/on-abort.js';
import { path } from '../wire/path.js';
import { type Handler, execute } from './execution.js';
import { Parked, Released, Stopped } from './halt.js';
import { type Bench, take } from './taking.js';
import type { WorkView } from './views.js';
import type { Workflow } from './workflow.js';

const WAIT_MS = 25_000;
const WORKERS = 4;
const PARK_AFTER_MS = 30_000;

/** How to work on many runs. */
export interface WorkOptions {
  /** How many runs at once: four by default. */
  readonly workers?: number;
  /**
   * Ends the work: no further run is taken, and those under way are let go at their next boundary, for another worker. Without one, Ctrl+C
   * and SIGTERM do so, and then end the process.
   */
  readonly signal?: AbortSignal;
  /**
   * How long a question may wait for a person before the worker lets the run go, in milliseconds. The run is taken again once it is
   * answered, and the code runs from its beginning: 30,000 by default. A run that does an effect or calls a model meanwhile is kept.
   */
  readonly parkAfterMs?: number;
  /** Told of each run that failed, and why. The run keeps the reason, too. */
  readonly onFailure?: (error: unknown, run: WorkView) => void;
}

/** Takes runs one after the other, and works on as many at once as the options say, until the signal fires or no run can be taken. */
export async function work<W extends Workflow, I, T>(
  bench: Bench<W>,
  handler: Handler<W, I, T>,
  { workers = WORKERS, parkAfterMs = PARK_AFTER_MS, onFailure }: WorkOptions,
  signal: AbortSignal | undefined,
): Promise<void> {
  const taking = new AbortController();
  const working = new AbortController();
  const underWay = new Set<Promise<void>>();
  const ended = new Promise((resolve) => onAbort(taking.signal, () => resolve(undefined)));
  const workOn = async (view: WorkView): Promise<void> => {
    try {
      await execute(bench, view, handler, working.signal, parkAfterMs);
    } catch (error) {
      if (!isOrdinary(error)) onFailure?.(error, view);
    }
  };
  const forget = onAbort(signal, () => taking.abort());
  try {
    while (!taking.signal.aborted) {
      const view = await next(bench, taking.signal);
      if (view === null) continue;
      const run = workOn(view);
      underWay.add(run);
      // What `onFailure` throws stays there, and ends the work.
      run.then(
        () => underWay.delete(run),
        () => taking.abort(),
      );
      if (underWay.size >= workers) await Promise.race([ended, ...underWay]);
    }
  } finally {
    forget();
    // Only now that no run is taken any more: one that is let go before would be taken again.
    working.abort();
    await Promise.allSettled(underWay);
  }
  await Promise.all(underWay);
}

/** The oldest run that can go on; `null` where there is none now. */
async function next(bench: Bench, signal: AbortSignal): Promise<WorkView | null> {
  try {
    return await take<WorkView | null>(bench, { path: path`/v1/workflows/${bench.workflow.name}/leases`, waitMs: WAIT_MS, signal });
  } catch (error) {
    // A worker outlives its server.
    if (signal.aborted || error instanceof Transient) return null;
    throw error;
  }
}

/** The run goes on elsewhere, or later. */
function isOrdinary(error: unknown): boolean {
  return [Stopped, Parked, Released, LeaseLost, RunFinished].some((it) => error instanceof it);
}
