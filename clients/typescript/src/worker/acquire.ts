import { RunOwned } from '../errors.js';
import { path } from '../wire/path.js';
import { sleep } from '../wire/sleep.js';
import { type Bench, take } from './taking.js';
import type { WorkView } from './views.js';

const LOOK_AGAIN_MS = 1_000;

/**
 * Takes a run. Where another worker has it, this waits until that one shows a sign of life, and then throws `RunOwned`; a worker that
 * died shows none, and its lease runs out.
 */
export async function acquire(bench: Bench, runId: string, signal: AbortSignal | undefined): Promise<WorkView> {
  const { transport } = bench;
  let first: WorkView | undefined;
  for (let looks = 0; ; looks++) {
    try {
      return await take<WorkView>(bench, { path: path`/v1/work/${runId}/lease`, signal });
    } catch (error) {
      if (!(error instanceof RunOwned)) throw error;
      const now = await transport.body<WorkView>({ method: 'GET', path: path`/v1/work/${runId}`, signal });
      first ??= now;
      if (now.epoch !== first.epoch || now.leaseUntil !== first.leaseUntil) throw error;
      const { worker, leaseUntil } = now;
      if (looks === 1) transport.settings.onWait(`the run ${runId} belongs to ${worker}; if that worker has died, it is free at ${leaseUntil}`);
      await sleep(LOOK_AGAIN_MS, signal);
    }
  }
}
