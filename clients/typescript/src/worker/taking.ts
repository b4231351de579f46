import type * as api from '../wire/api.js';
import { randomId } from '../wire/random-id.js';
import type { Call, Transport } from '../wire/transport.js';
import { OwnedRun } from './owned-run.js';
import type { WorkView } from './views.js';
import type { Workflow } from './workflow.js';

/** How long a worker that ends tries to let go of what it may have taken. After that, the lease runs out. */
const LET_GO_MS = 5_000;

/** Who works, and where. */
export interface Bench<W extends Workflow = Workflow> {
  readonly transport: Transport;
  readonly workflow: W;
  /** The name of this worker, as people see it. No other one has it. */
  readonly worker: string;
  /** What it has that runs may need. */
  readonly labels: readonly string[];
  readonly leaseMs: number;
}

/** How a request takes a run. */
type Taking = Pick<Call, 'path' | 'waitMs' | 'signal'>;

/** Takes a run by a request. Once its signal fires, it leaves this worker no run, whatever the server did. */
export async function take<T extends WorkView | null>({ transport, worker, labels, leaseMs }: Bench, { signal, ...taking }: Taking): Promise<T> {
  signal?.throwIfAborted();
  const body = { worker, leaseMs, labels: [...labels] } satisfies api.LeaseBody;
  const call: Call = { ...taking, method: 'POST', body, headers: { 'idempotency-key': randomId() } };
  try {
    const view = await transport.body<T>({ ...call, signal });
    signal?.throwIfAborted();
    return view;
  } catch (error) {
    if (signal?.aborted) await letGo(transport, call);
    throw error;
  }
}

/** Lets go of what a request took whose answer is lost: sent again with its key, it has the run that it took. */
async function letGo(transport: Transport, { waitMs: _, ...call }: Call): Promise<void> {
  const signal = AbortSignal.timeout(LET_GO_MS);
  try {
    const view = await transport.body<WorkView | null>({ ...call, signal });
    if (view !== null) await new OwnedRun(transport, view).write('DELETE', '/lease', { signal });
  } catch {
    // The worker ends in any case.
  }
}
