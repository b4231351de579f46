import { RunFinished } from './errors.js';
import { type LocalOptions, LocalServer } from './local.js';
import { acquire } from './worker/acquire.js';
import { type Handler, execute } from './worker/execution.js';
import { untilProcessEnds } from './worker/process-end.js';
import type { Bench } from './worker/taking.js';
import type { WorkView } from './worker/views.js';
import { type WorkOptions, work } from './worker/work.js';
import type { Workflow } from './worker/workflow.js';
import type * as api from './wire/api.js';
import { path } from './wire/path.js';
import { randomId } from './wire/random-id.js';
import { type Settings, effective } from './wire/settings.js';
import { Transport } from './wire/transport.js';

/** How a router reaches its server, and how it works there. */
export interface RouterOptions extends Settings {
  /** What people call this worker; a random ending keeps workers apart. */
  readonly worker?: string;
  /** How long a run stays without an owner after its worker died, in milliseconds: 30,000 by default. */
  readonly leaseMs?: number;
  /** What this worker has that runs may need, such as `gpu`. It takes no run that needs anything else. */
  readonly labels?: readonly string[];
}

/** Which run to work on. */
export interface RunOrder<I> {
  /** Your name for the run. With the same alias and input it is the same run; without one, each call is another run. */
  readonly alias?: string;
  /** What it works on, as JSON. */
  readonly input: I;
  /** The labels that a worker must have to take it, this one included. */
  readonly needs?: readonly string[];
  /** Lets the run go at its next boundary, for another worker. Without one, Ctrl+C and SIGTERM do so, and then end the process. */
  readonly signal?: AbortSignal;
}

/** A server, as workers use it: it registers workflows and owns runs. The token has the role `worker`. */
export class Router {
  private readonly transports = new Map<string, Transport>();
  private readonly registered = new WeakMap<Workflow, Promise<api.RegisteredView>>();

  constructor(
    private readonly options: RouterOptions = {},
    /** The server that `Router.local` has started. */
    readonly server?: LocalServer,
  ) {
    if (server === undefined) effective(options);
  }

  /**
   * A router with a server of its own: `irq serve` on this machine, which ends with this process, or by `router.server.close()`. The
   * page is at `router.server.link`.
   */
  static async local(options: Omit<RouterOptions, 'server' | 'token'> & LocalOptions = {}): Promise<Router> {
    return new Router(options, await LocalServer.start(options));
  }

  /**
   * Creates a run, or takes it where it is there, does the work, and ends the run: completed with what the code returns, failed with
   * an error. Gives the result, also where an earlier worker completed the run.
   *
   * Throws `Stopped` where a person stopped the run, `RunPaused` where it waits to be resumed, `RunOwned` where another worker has it,
   * and `RunFinished` where it failed or was cancelled before.
   */
  run<W extends Workflow, I, T>(workflow: W, order: RunOrder<I>, handler: Handler<W, I, T>): Promise<T> {
    return untilProcessEnds(order.signal, async (signal) => {
      const bench = await this.bench(workflow);
      const { alias: threadId, input, needs = [] } = order;
      const body = { input, threadId, needs: [...needs] } satisfies api.NewWorkBody;
      const created = { method: 'POST', path: path`/v1/workflows/${workflow.name}/runs`, body, signal } as const;
      const { runId } = await bench.transport.body<WorkView>(created);
      try {
        return await execute(bench, await acquire(bench, runId, signal), handler, signal);
      } catch (error) {
        return resultOf<T>(bench.transport, runId, error);
      }
    });
  }

  /**
   * Takes the runs of a workflow that can go on, and works on them until the signal of the options fires, or without one until the
   * process is told to end. A run that a person resumes or whose worker died is one of them.
   */
  async work<W extends Workflow, I, T>(workflow: W, handler: Handler<W, I, T>, options: WorkOptions = {}): Promise<void> {
    const bench = await this.bench(workflow);
    await untilProcessEnds(options.signal, (signal) => work(bench, handler, options, signal));
  }

  /** Registers a workflow; `run` and `work` do so themselves. */
  register(workflow: Workflow): Promise<api.RegisteredView> {
    const known = this.registered.get(workflow);
    if (known !== undefined) return known;
    const call = { method: 'PUT', path: path`/v1/workflows/${workflow.name}`, body: workflow.registration } as const;
    const registering = this.transport(workflow).body<api.RegisteredView>(call);
    this.registered.set(workflow, registering);
    registering.catch(() => this.registered.delete(workflow));
    return registering;
  }

  /** The way to the server. The token of a worker is for one workflow, so a server of its own has one for each. */
  private transport({ name }: Workflow): Transport {
    const known = this.transports.get(name);
    if (known !== undefined) return known;
    const { options, server } = this;
    const own = server && { server: server.address, token: server.workerToken(name) };
    const transport = new Transport(effective({ ...options, ...own }));
    this.transports.set(name, transport);
    return transport;
  }

  /** A worker that no other one is taken for, in this process or another. */
  private async bench<W extends Workflow>(workflow: W): Promise<Bench<W>> {
    await this.register(workflow);
    const { worker = 'worker', labels = [], leaseMs = 30_000 } = this.options;
    return { transport: this.transport(workflow), workflow, worker: `${worker}-${randomId().slice(0, 8)}`, labels, leaseMs };
  }
}

/** The result of a run that ended before this worker could end it, where it was completed. */
async function resultOf<T>(transport: Transport, runId: string, error: unknown): Promise<T> {
  if (!(error instanceof RunFinished)) throw error;
  const view = await transport.body<WorkView>({ method: 'GET', path: path`/v1/work/${runId}` });
  if (view.state === 'completed') return view.result as T;
  if (view.state !== 'failed' && view.state !== 'cancelled') throw error;
  const reason = view.reason ? `: ${view.reason}` : '';
  throw new RunFinished({ ...error.problem, detail: `the run is ${view.state}${reason}`, cause: error });
}
