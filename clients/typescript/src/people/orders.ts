import type { JsonObject } from '../json.js';
import type * as api from '../wire/api.js';
import type { AgentView, Confirmation, Interrupt, Mode, RunView } from './views.js';

/** What writes takes a key: with the same key, the same request has the same answer, also from another process. */
export interface Keyed {
  /** An idempotency key; where it is absent, only the tries of one call share a key. */
  readonly key?: string;
}

/** Which interrupts to list. */
export interface InterruptFilter {
  /** `open` (the default: all that wait for a person), `live`, `claimed`, or one state. */
  readonly status?: api.InboxName;
  readonly runId?: string;
  readonly agentId?: string;
  readonly assignee?: string;
}

/** Which runs to list. */
export interface RunFilter {
  readonly status?: RunView['status'];
}

/** Which agents to list. */
export interface AgentFilter {
  readonly runId?: string;
  readonly status?: AgentView['status'];
}

/** What identifies the state of an interrupt that a person has read. */
export type Seen = Pick<Interrupt, 'id' | 'version' | 'shownDigest'>;

/** What a person says with a decision. */
export interface DecisionOptions extends Keyed {
  /** The values that are chosen. */
  readonly choices?: readonly string[];
  readonly confirmations?: Readonly<Record<string, boolean>>;
  readonly text?: string;
  /** The request of the route, with the decision `edit`. No model is needed then. */
  readonly request?: JsonObject;
  /** Where the answer goes, with the decision `reroute`. */
  readonly rerouteTo?: string;
  /** Words for the agent. */
  readonly message?: string;
  /** Further members of the response schema. */
  readonly payload?: JsonObject;
  /** Answer the same question in this way from now on. */
  readonly remember?: Pick<api.RememberBody, 'scope' | 'ttlS' | 'maxUses'>;
}

/** A request that an agent interrupts itself. */
export interface InterruptRequestOptions {
  /** Where the answer goes. Without it, it goes back to the agent. */
  readonly rerouteTo?: string;
  readonly choices?: readonly (string | { readonly value: string; readonly label?: string; readonly description?: string })[];
  readonly confirmations?: readonly Confirmation[];
  /** What an answer shall be. */
  readonly answerForm?: api.AnswerFormName;
  /** What one needs to know to decide. */
  readonly context?: string;
  /** Random where it is absent. It is one event, however often it is published with the same id, timestamp and words. */
  readonly eventId?: string;
  /** When the event was made, as RFC 3339 has it; now where it is absent. */
  readonly timestamp?: string;
}

/** The agent that is asked to interrupt itself. */
export type Target = Pick<AgentView, 'agentId' | 'agentType'>;

/** How to stop an agent. */
export interface StopOptions extends Keyed {
  /** PAUSE (the default) pauses the run, PRUNE ends the agent and those below it, STOP ends it, or its run. */
  readonly type?: 'PAUSE' | 'STOP' | 'PRUNE';
  readonly mode?: Mode;
  readonly scope?: api.ScopeName;
  readonly reason?: string;
}

/** How to end a run. */
export interface CancelOptions extends Keyed {
  readonly mode?: Mode;
  readonly reason?: string;
}

/** How a run goes on. */
export interface ResumeOptions extends Keyed {
  /** Words for the run. */
  readonly input?: string;
  /** Goes on as another run, from the checkpoint with this number. */
  readonly checkpoint?: number;
}
