import type * as api from '../wire/api.js';
import type { Body } from '../wire/form.js';
import { randomId } from '../wire/random-id.js';
import type { Call, Transport } from '../wire/transport.js';
import { OwnedRun } from './owned-run.js';
import type { WorkView } from './views.js';

/** How long a worker that ends tries to let go of what it may have taken. After that, the lease runs out. */
const LET_GO_MS = 5_000;

/** Who takes a run, and for how long. */
export interface LeaseOrder {
  /** The name of this worker, as people see it. No other one has it. */
  readonly worker: string;
  /** What it has that runs may need. */
  readonly labels: readonly string[];
  readonly leaseMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Takes a run by a request to an address. Once the signal fires, it leaves this worker no run, whatever the server did. */
export async function take<T extends WorkView | null>(transport: Transport, address: string, order: LeaseOrder, waitMs?: number): Promise<T> {
  const { worker, labels, leaseMs, signal } = order;
  signal?.throwIfAborted();
  const body = { worker, leaseMs, labels: [...labels] } satisfies Body<api.LeaseBody>;
  const call: Call = { method: 'POST', path: address, body, headers: { 'idempotency-key': randomId() } };
  try {
    const view = await transport.body<T>({ ...call, ...(waitMs !== undefined && { waitMs }), signal });
    signal?.throwIfAborted();
    return view;
  } catch (error) {
    if (signal?.aborted) await letGo(transport, call);
    throw error;
  }
}

/** Lets go of what a request took whose answer is lost: sent again with its key, it has the run that it took. */
async function letGo(transport: Transport, call: Call): Promise<void> {
  const signal = AbortSignal.timeout(LET_GO_MS);
  try {
    const view = await transport.body<WorkView | null>({ ...call, signal });
    if (view !== null) await new OwnedRun(transport, view).write('DELETE', '/lease', { signal });
  } catch {
    // The worker ends in any case.
  }
}
