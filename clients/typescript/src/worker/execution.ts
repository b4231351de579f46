import { Forbidden, Internal, Invalid, LeaseLost, RunFinished, Transient, Unauthenticated } from '../errors.js';
import { throughJson } from '../json.js';
import type * as api from '../wire/api.js';
import { onAbort } from '../wire/on-abort.js';
import { Busy } from './busy.js';
import type { RunContext } from './context.js';
import { Cancelled, Parked, Released, Stopped, concernsAgentAlone } from './halt.js';
import type { Halting } from './halting.js';
import { type InEpoch, OwnedRun } from './owned-run.js';
import { Run } from './run.js';
import { SignalWatch } from './signal-watch.js';
import type { Bench } from './taking.js';
import type { WorkView } from './views.js';
import { within } from './within.js';
import type { Workflow } from './workflow.js';

/** The code of an orchestrator. What it returns is the result of the run. */
export type Handler<W extends Workflow, I, T> = (run: Run<W, I>) => Promise<T>;

type Outcome<T> = { readonly result: T } | { readonly error: unknown };

/** The most of an error's words that a run keeps. */
const MOST_REASON = 500;

/**
 * Works on a run that was taken, and ends it, lets it go, or says that it has stopped. Once the signal fires, and where a question is open
 * for longer than `parkAfterMs`, it is let go at its next boundary.
 */
export async function execute<W extends Workflow, I, T>(
  { transport, workflow, leaseMs }: Bench<W>,
  view: WorkView,
  handler: Handler<W, I, T>,
  signal: AbortSignal | undefined,
  parkAfterMs = Infinity,
): Promise<T> {
  const owned = new OwnedRun(transport, view);
  const haltings: RunContext['haltings'] = new Map();
  const watch = new SignalWatch(owned, haltings);
  const context = { owned, watch, haltings, effects: new Map(), busy: new Busy(), parkAfterMs };
  const release = (): void => owned.halting.halt(new Released(), false);
  const forget = onAbort(signal, release);
  const ended = new AbortController();
  const meanwhile = [owned.keep(leaseMs, ended.signal), watch.follow(ended.signal)];
  try {
    const outcome = await outcomeOf(handler, new Run<W, I>(context, workflow), owned.halting);
    // An effect that other code of the run has begun ends, and no further one begins.
    if ('error' in outcome) release();
    await context.busy.rest(owned.halting.immediate);
    return await conclude(owned, outcome);
  } finally {
    forget();
    ended.abort();
    await Promise.all(meanwhile);
  }
}

/** What the code came to. Whatever it makes of the error that ends the run early, whether it wraps, groups or drops it, is that end. */
async function outcomeOf<W extends Workflow, I, T>(handler: Handler<W, I, T>, run: Run<W, I>, halting: Halting): Promise<Outcome<T>> {
  const { signal } = halting;
  try {
    const result = throughJson(await handler(run)) as T;
    return halting.isKnown ? { error: signal.reason } : { result };
  } catch (error) {
    const found = within(error, isOfRun);
    return { error: signal.aborted && !(found instanceof Cancelled) ? signal.reason : (found ?? error) };
  }
}

/** Says how the run goes on, not what is wrong with its code. An agent may be stopped just before its run. */
function isOfRun(error: unknown): boolean {
  return error instanceof Cancelled || error instanceof Stopped || isOfWorker(error);
}

async function conclude<T>(owned: OwnedRun, outcome: Outcome<T>): Promise<T> {
  if ('result' in outcome) {
    try {
      await end(owned, { state: 'completed', result: outcome.result });
      return outcome.result;
    } catch (error) {
      // A result that the server does not take, such as one that is too large, is no better the next time.
      if (error instanceof Invalid) return conclude(owned, { error });
      throw error;
    }
  }
  const { error } = outcome;
  if (error instanceof Stopped) await stopped(owned, error);
  else if (error instanceof Cancelled) await end(owned, { state: 'cancelled', reason: error.detail });
  else if (error instanceof Parked || error instanceof Released) await release(owned, error instanceof Parked);
  // The first error is the one to tell: where the server does not hear of it, the lease runs out and another worker goes on.
  else if (isOfWorker(error)) await release(owned, false).catch(() => undefined);
  else await end(owned, { state: 'failed', reason: String(error).slice(0, MOST_REASON) }).catch(() => undefined);
  throw error;
}

/** This worker cannot go on, and another one can: the error says nothing about the run. */
function isOfWorker(error: unknown): boolean {
  const classes = [Transient, Internal, Unauthenticated, Forbidden, LeaseLost, RunFinished];
  return classes.some((it) => error instanceof it);
}

async function stopped(owned: OwnedRun, { stop }: Stopped): Promise<void> {
  if (!concernsAgentAlone(stop)) {
    // The server carries the stop out in an epoch of its own, and later where it died over it.
    const isStopped = ({ state }: WorkView): boolean => ['stopping', 'paused', 'cancelled'].includes(state);
    return settle(owned, owned.write('POST', '/stopped', { body: {} satisfies api.StoppedBody }), isStopped);
  }
  // The code did not go on without that agent, so there is nothing left to do.
  await owned.write('POST', '/stopped', { body: { agentId: stop.agentId } satisfies api.StoppedBody });
  await end(owned, { state: 'cancelled', reason: `${stop.agentId} was stopped: ${stop.reason}` });
}

function release(owned: OwnedRun, waiting: boolean): Promise<void> {
  const query = { waiting: waiting || undefined } satisfies InEpoch<api.ReleaseQuery>;
  // Where the lease is over there is nothing left to let go, whoever has the run now.
  return settle(owned, owned.write('DELETE', '/lease', { query }));
}

function end(owned: OwnedRun, body: api.EndBody): Promise<void> {
  // In a later epoch, another worker ended it, perhaps with another result.
  const isEnded = (view: WorkView): boolean => view.state === body.state && view.epoch === owned.view.epoch;
  return settle(owned, owned.write('POST', '/end', { body }), isEnded);
}

/** Ends the lease by a request. Where its first answer got lost, the second one says that there is no lease any more. */
async function settle(owned: OwnedRun, request: Promise<unknown>, isSettled?: (view: WorkView) => boolean): Promise<void> {
  try {
    await request;
  } catch (error) {
    const isOver = error instanceof LeaseLost || error instanceof RunFinished;
    if (!isOver || isSettled?.(await owned.read<WorkView>('')) === false) throw error;
  }
}
