import { NotFound } from '../errors.js';
import type * as api from '../wire/api.js';
import { Agent } from './agent.js';
import type { RunContext } from './context.js';
import { Cancelled } from './halt.js';
import type { Halting } from './halting.js';
import type { Checkpoint, Signals, WorkView } from './views.js';
import type { KindOf, Workflow } from './workflow.js';

const ROOT = 'root';

/** A run that this worker works on. */
export class Run<W extends Workflow = Workflow, I = unknown> {
  readonly id: string;
  /** Your name for it, or its id. */
  readonly alias: string;
  /** What it works on. */
  readonly input: I;
  /** How it stood when this worker took it. */
  readonly view: WorkView;
  /**
   * Fires as soon as the run is told to stop, or was lost to another worker. A graceful stop lets the current step end: what must not
   * be cut off uses `immediate` instead.
   */
  readonly signal: AbortSignal;
  /** Fires when the work has to end at once: at an immediate stop, or when the run was lost to another worker. */
  readonly immediate: AbortSignal;
  /** The first agent, of the first kind of the workflow. It is there from the beginning. */
  readonly root: Agent<W>;
  private readonly agents = new Map<string, Agent<W>>();

  constructor(
    private readonly context: RunContext,
    workflow: W,
  ) {
    const { view, halting } = context.owned;
    this.view = view;
    this.id = view.runId;
    this.alias = view.threadId ?? view.runId;
    this.input = view.input as I;
    this.signal = halting.signal;
    this.immediate = halting.immediate;
    this.root = this.begin(ROOT, workflow.rootKind as KindOf<W>, halting);
  }

  /**
   * Starts an agent below `root`, or below another one, called like its kind unless a name is given. The same name is the same agent
   * whenever the code runs.
   */
  agent(kind: KindOf<W>, name: string = slug(kind), above: Agent<W> = this.root): Promise<Agent<W>> {
    return this.context.owned.halting.boundary(async () => {
      const id = `${above.id}/${name}`;
      const known = this.agents.get(id);
      if (known !== undefined) return known;
      const agent = this.begin(id, kind, this.context.haltings.get(above.id) ?? this.context.owned.halting);
      await agent.start();
      return agent;
    });
  }

  /** What has come and is not dealt with: stops, requests to interrupt, messages, decisions. */
  async signals(): Promise<Signals> {
    const signals = await this.context.owned.signals();
    this.context.watch.take(signals);
    return signals;
  }

  /** Whether the run was told to stop. It asks the server; ask between the steps of long work of your own. */
  async interrupted(): Promise<boolean> {
    return (await this.signals()).stopping;
  }

  /** Keeps a state, as JSON. People see it in the history of the run. */
  checkpoint(state: unknown, reason?: string): Promise<void> {
    return this.context.owned.halting.boundary(() =>
      this.context.owned.write('POST', '/checkpoints', { body: { state, reason } satisfies api.StateBody }),
    );
  }

  /** The state that was kept last, also by an earlier worker; `null` before the first one. */
  async lastCheckpoint<S = unknown>(): Promise<Checkpoint<S> | null> {
    try {
      return await this.context.owned.read<Checkpoint<S>>('/checkpoints/last');
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  }

  /** Ends the run as cancelled. It does so by an error that has to pass through the code. */
  cancel(reason: string): never {
    throw new Cancelled(reason);
  }

  private begin(id: string, kind: KindOf<W>, above: Halting): Agent<W> {
    const halting = above.child();
    const agent = new Agent<W>(this.context, id, kind, halting);
    this.agents.set(id, agent);
    this.context.haltings.set(id, halting);
    this.context.watch.halt();
    return agent;
  }
}

/** A kind as a part of an agent's id. */
function slug(kind: string): string {
  return kind.toLowerCase().replace(/[^a-z0-9_-]/g, '-');
}
