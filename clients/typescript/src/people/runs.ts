import { path } from '../wire/path.js';
import type { Transport } from '../wire/transport.js';
import { type Keyed, keyHeader } from './interrupts.js';
import { pages } from './pages.js';
import type { AgentTree, Interrupt, Mode, RunView } from './views.js';

/** All runs, for people. */
export class Runs {
  constructor(private readonly transport: Transport) {}

  /** All runs in the order of their creation, or those with one status. */
  list(filter: { readonly status?: RunView['status'] } = {}): Promise<RunView[]> {
    return pages<RunView>(this.transport, '/v1/runs', 'runs', filter);
  }

  /** A run by its id or its alias. */
  get(run: string): Promise<RunView> {
    return this.transport.body({ method: 'GET', path: path`/v1/runs/${run}` });
  }

  /** Its agents, each with those that it started. */
  agents(run: string): Promise<AgentTree[]> {
    return this.transport.body({ method: 'GET', path: path`/v1/runs/${run}/tree` });
  }

  /** Goes on with a paused run, or as another run from one of its checkpoints. Gives the id of the run that goes on. */
  async resume(run: string, options: ResumeOptions = {}): Promise<string> {
    const { idempotencyKey: _, ...body } = options;
    const call = { method: 'POST', path: path`/v1/runs/${run}/resume`, headers: keyHeader(options), body } as const;
    return (await this.transport.body<{ runId: string }>(call)).runId;
  }

  /** Asks the run to end. It has not ended yet when this returns. */
  stop(run: string, options: StopOptions = {}): Promise<Interrupt> {
    const { idempotencyKey: _, ...body } = options;
    return this.transport.body({ method: 'POST', path: path`/v1/runs/${run}/cancel`, headers: keyHeader(options), body });
  }
}

/** How a run goes on. */
export interface ResumeOptions extends Keyed {
  readonly checkpoint?: number;
  /** Words for the run. */
  readonly input?: string;
}

/** How a run ends. */
export interface StopOptions extends Keyed {
  readonly mode?: Mode;
  readonly reason?: string;
}
