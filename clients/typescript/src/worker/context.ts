import type { Busy } from './busy.js';
import type { Halting } from './halting.js';
import type { OwnedRun } from './owned-run.js';
import type { SignalWatch } from './signal-watch.js';

/** What the agents of a run share. */
export interface RunContext {
  readonly owned: OwnedRun;
  readonly watch: SignalWatch;
  /** What tells each agent to end, by its id. */
  readonly haltings: Map<string, Halting>;
  /** Effects of this process by key and arguments: called again while they are under way, they are the same. */
  readonly effects: Map<string, Promise<unknown>>;
  /** How long a question may be open before the worker lets the run go. */
  readonly parkAfterMs: number;
  /** What is under way that a run which rests would have to do again. */
  readonly busy: Busy;
}

/** What belongs to one agent, for the questions that it asks. */
export interface AgentContext extends RunContext {
  readonly agentId: string;
  readonly halting: Halting;
}
