import { LeaseLost, RunFinished, Transient } from '../errors.js';
import { path } from '../wire/path.js';
import type { Transport } from '../wire/transport.js';
import { Ending } from './ending.js';
import { type Handler, execute } from './execution.js';
import { Parked, Released, Stopped } from './halt.js';
import { take } from './taking.js';
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

/** Who works, and where. */
interface Bench<W extends Workflow> {
  readonly transport: Transport;
  readonly workflow: W;
  readonly worker: string;
  readonly labels: readonly string[];
  readonly leaseMs: number;
}

/** Takes runs and works on them, as many at once as the options say. What stops one of them from taking runs stops all. */
export async function work<W extends Workflow, I, T>(bench: Bench<W>, handler: Handler<W, I, T>, options: WorkOptions, signal: AbortSignal | undefined): Promise<void> {
  const ending = new Ending();
  const end = (): void => ending.begin();
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end, { once: true });
  const one = (): Promise<void> => takeRuns(bench, handler, options, ending).finally(end);
  const outcomes = await Promise.allSettled(Array.from({ length: options.workers ?? WORKERS }, one));
  signal?.removeEventListener('abort', end);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function takeRuns<W extends Workflow, I, T>(
  bench: Bench<W>,
  handler: Handler<W, I, T>,
  { parkAfterMs = PARK_AFTER_MS, onFailure }: WorkOptions,
  ending: Ending,
): Promise<void> {
  const { transport, workflow, leaseMs } = bench;
  while (!ending.ofTaking.aborted) {
    const view = await ending.after(next(bench, ending.ofTaking));
    if (view === null) continue;
    try {
      await execute(transport, workflow, view, { leaseMs, signal: ending.ofWorking, parkAfterMs }, handler);
    } catch (error) {
      if (!isOrdinary(error)) onFailure?.(error, view);
    }
  }
}

/** The oldest run that can go on; `null` where there is none now. */
async function next<W extends Workflow>({ transport, workflow, worker, labels, leaseMs }: Bench<W>, signal: AbortSignal): Promise<WorkView | null> {
  try {
    return await take<WorkView | null>(transport, path`/v1/workflows/${workflow.name}/leases`, { worker, labels, leaseMs, signal }, WAIT_MS);
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
