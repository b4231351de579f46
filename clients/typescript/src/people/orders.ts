import type { ChoiceOption } from '../choice.js';
import type { JsonObject } from '../json.js';
import type * as api from '../wire/api.js';
import type { AgentView, Confirmation, Interrupt } from './views.js';

/** What writes takes a key: with the same key, the same request has the same answer, also from another process. */
export interface Keyed {
  /** An idempotency key; where it is absent, only the tries of one call share a key. */
  readonly key?: string;
}

/** Which of a list to read. All parts of the list are read, however large these are. */
type Filter<Q> = Omit<Q, 'cursor' | 'limit'>;

/** Which interrupts to list. The status is `open` (the default: all that wait for a person), `live`, `claimed`, or one state. */
export interface InterruptFilter extends Filter<api.InterruptsQuery> {}

/** Which runs to list. */
export interface RunFilter extends Filter<api.RunsQuery> {}

/** Which agents to list. */
export interface AgentFilter extends Filter<api.AgentsQuery> {}

/** What identifies the state of an interrupt that a person has read. */
export type Seen = Pick<Interrupt, 'id' | 'version' | 'shownDigest'>;

/** What a person says with a decision: with `reroute` also where the answer goes, words for the agent, and how long to answer the same so. */
export interface DecisionOptions extends Keyed, Pick<api.DecisionBody, 'rerouteTo' | 'message' | 'remember'> {
  /** The values that are chosen. */
  readonly choices?: readonly string[];
  readonly confirmations?: Readonly<Record<string, boolean>>;
  readonly text?: string;
  /** The request of the route, with the decision `edit`. No model is needed then. */
  readonly request?: JsonObject;
  /** Further members of the response schema. */
  readonly payload?: JsonObject;
}

/** A request that an agent interrupts itself. */
export interface InterruptRequestOptions {
  /** Where the answer goes. Without it, it goes back to the agent. */
  readonly rerouteTo?: string;
  readonly choices?: readonly ChoiceOption[];
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
export interface StopOptions extends Keyed, Omit<api.InterruptBody, 'type'> {
  /** PAUSE (the default) pauses the run, PRUNE ends the agent and those below it, STOP ends it, or its run. */
  readonly type?: 'PAUSE' | 'STOP' | 'PRUNE';
}

/** How to end a run. */
export interface CancelOptions extends Keyed, api.CancelBody {}

/** How a run goes on: from a checkpoint as another run. */
export interface ResumeOptions extends Keyed, api.ResumeBody {}
