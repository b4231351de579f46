import type * as api from '../wire/api.js';

// What workers see is what the server says of it. The types that are written out here say more than its document does.
export type { AskedAgentView as InterruptRequest, SignalsView as Signals, WorkMessageView as Message, WorkView } from '../wire/api.js';
export type { DialectName as Dialect, SchemaView as NarrowedSchema } from '../wire/api.js';

/** A decision as the worker that asked sees it. */
export interface Decision extends api.WorkDecisionView {
  /** What was decided. Only stops are resumed. */
  readonly decision: Exclude<api.DecisionName, 'resume'>;
}

/** A question as it stands. */
export interface QuestionView extends api.WorkQuestionView {
  readonly decision: Decision | null;
}

/** A stop that was asked for. */
export interface Stop extends Omit<api.StopView, 'interruptId'> {
  /** `null` where it was carried out before this worker took the run. */
  readonly interruptId: string | null;
}

/** A state that was kept. */
export interface Checkpoint<S = unknown> extends api.CheckpointStateView {
  readonly state: S;
}

/** What a model is asked to do: to fill in a schema. With the dialect `grammar` it is whatever the server gives in its place. */
export interface FillTask extends api.SchemaView {
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
