import type { DecisionName, Mode } from '../people/views.js';

/** A run as its workers see it. */
export interface WorkView {
  readonly runId: string;
  /** Your name for it. */
  readonly threadId: string | null;
  readonly workflow: string;
  readonly state: string;
  readonly reason: string | null;
  readonly input: unknown;
  readonly epoch: number;
  readonly worker: string | null;
  readonly leaseUntil: string | null;
  readonly checkpoint: number;
  readonly result: unknown;
}

/** A decision as the worker that asked sees it. */
export interface Decision {
  readonly id: string;
  readonly decision: Exclude<DecisionName, 'resume'>;
  /** The words of the person. */
  readonly text: string | null;
  readonly choices: readonly string[];
  readonly confirmations: Readonly<Record<string, boolean>>;
  readonly by: string;
  readonly at: string;
}

/** The route that a decision fixed. */
export interface FixedRoute {
  readonly name: string;
  readonly field: string;
  /** Whether the answer goes elsewhere than where the question came from. */
  readonly rerouted: boolean;
}

/** A question as it stands. */
export interface QuestionView {
  readonly key: string;
  readonly interruptId: string;
  readonly agentId: string;
  readonly kind: string;
  readonly state: 'open' | 'decided' | 'expired' | 'withdrawn';
  readonly reason: string;
  readonly decision: Decision | null;
  readonly route: FixedRoute | null;
  readonly request: unknown;
  readonly correctionsLeft: number;
  /** The key of the question by which a person fills in the request. */
  readonly asked?: string | null;
}

/** Providers whose limits and words a schema can follow. */
export type Dialect = 'json-schema' | 'openai' | 'anthropic' | 'gemini' | 'grammar';

/** The schema that a model is shown. */
export interface NarrowedSchema {
  readonly name: string;
  readonly dialect: Dialect;
  /** A JSON Schema; with the dialect `grammar`, whatever the server gives in its place. */
  readonly schema: unknown;
  /** The one property that the model fills in. */
  readonly field: string;
}

/** A stop that was asked for. */
export interface Stop {
  /** `null` where it was carried out before this worker took the run. */
  readonly interruptId: string | null;
  readonly type: string;
  readonly mode: Mode;
  readonly scope: 'run' | 'agent';
  readonly agentId: string;
  readonly reason: string;
}

/** A supervisor wants an agent to interrupt itself. The agent's next question takes that event. */
export interface InterruptRequest {
  readonly interruptId: string;
  readonly agentId: string;
  readonly reason: string;
  /** The route of the answer; without one it is that of the agent's kind. */
  readonly rerouteTo: string | null;
}

/** A message to an agent of the run. */
export interface Message {
  readonly position: number;
  readonly agentId: string;
  readonly text: string;
  readonly from: string;
}

/** What came from outside and is not dealt with. */
export interface Signals {
  readonly stopping: boolean;
  readonly stops: readonly Stop[];
  readonly asked: readonly InterruptRequest[];
  readonly messages: readonly Message[];
  /** The keys of questions that are decided, and whose decision no agent has read. */
  readonly decided: readonly string[];
  /** Counts what has happened in the run. */
  readonly cursor: number;
}

/** Something that must not happen twice. */
export interface EffectView {
  readonly state: 'begun' | 'finished' | 'unknown';
  readonly result?: unknown;
}

/** A state that was kept. */
export interface Checkpoint<S = unknown> {
  readonly state: S;
  readonly number: number;
  readonly reason: string | null;
}

/** What a model is asked to do. */
export interface FillTask extends NarrowedSchema {
  /** The task, and after a refusal the model's own answers with what did not fit. */
  readonly messages: readonly ChatMessage[];
  /** Fires when the work has to end at once. */
  readonly signal: AbortSignal;
}

/** A message of a conversation with a model. */
export interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Answers with an object or with the text of a model. */
export type Model = (task: FillTask) => unknown;
