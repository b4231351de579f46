import { onAbort } from '../wire/on-abort.js';
import { sleep } from '../wire/sleep.js';
import { Stopped, concernsAgentAlone } from './halt.js';
import type { Halting } from './halting.js';
import type { OwnedRun } from './owned-run.js';
import type { Signals, Stop } from './views.js';

const WAIT_MS = 25_000;

/** Follows what comes from outside while a run is worked on: stops wake its work, decisions wake those who wait for them. */
export class SignalWatch {
  /** Questions that have changed since the work looked at them. */
  private readonly fresh = new Set<string>();
  private readonly waiters = new Map<string, () => void>();
  private stops: readonly Stop[] = [];

  constructor(
    private readonly run: OwnedRun,
    private readonly agents: ReadonlyMap<string, Halting>,
  ) {}

  /** Follows until the signal fires. */
  follow(signal: AbortSignal): Promise<void> {
    let after: number | undefined;
    const look = async (): Promise<void> => {
      const signals = await this.run.signals({ query: { after }, signal, ...(after !== undefined && { waitMs: WAIT_MS }) });
      this.take(signals);
      after = signals.cursor;
    };
    return this.run.keepDoing(look, signal);
  }

  /** Carries out what signals say. */
  take(signals: Signals): void {
    this.stops = signals.stops;
    this.halt();
    for (const key of signals.decided) this.wake(key);
  }

  /** Tells stops to those that they concern; an agent may have begun after its stop came. */
  halt(): void {
    for (const stop of this.stops) {
      const concerned = concernsAgentAlone(stop) ? this.agents.get(stop.agentId) : this.run.halting;
      concerned?.halt(new Stopped(stop), stop.mode === 'immediate');
    }
  }

  /** Makes those who wait for a question look at it. */
  wake(key: string): void {
    this.fresh.add(key);
    this.waiters.get(key)?.();
  }

  /** Waits until a question may have been decided, and at most for a time. */
  async decision(key: string, ms: number, signal: AbortSignal): Promise<void> {
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.waiters.set(key, wake);
    const forget = onAbort(signal, wake);
    try {
      if (!this.fresh.has(key)) await sleep(ms, woken.signal).catch(() => undefined);
      signal.throwIfAborted();
      this.fresh.delete(key);
    } finally {
      forget();
      this.waiters.delete(key);
    }
  }
}
