import type { DecisionName, Mode } from '../people/views.js';
import type * as api from '../wire/api.js';
import type { Full, Narrowed } from '../wire/form.js';

/** A run as its workers see it. */
export interface WorkView extends Full<api.WorkView> {}

/** A decision as the worker that asked sees it. */
export interface Decision extends Narrowed<Full<api.WorkDecisionView>, { readonly decision: Exclude<DecisionName, 'resume'> }> {}

/** A question as it stands. */
export interface QuestionView
  extends Narrowed<
    Full<api.WorkQuestionView>,
    { readonly state: 'open' | 'decided' | 'expired' | 'withdrawn'; readonly decision: Decision | null }
  > {}

/** Providers whose limits and words a schema can follow. */
export type Dialect = 'json-schema' | 'openai' | 'anthropic' | 'gemini' | 'grammar';

/** The schema that a model is shown; with the dialect `grammar`, whatever the server gives in its place. */
export interface NarrowedSchema extends Narrowed<api.SchemaView, { readonly dialect: Dialect }> {}

/** A stop that was asked for, as the server records it. */
export interface RecordedStop extends Narrowed<api.StopView, { readonly mode: Mode; readonly scope: api.ScopeName }> {}

/** A stop that was asked for. */
export interface Stop extends Omit<RecordedStop, 'interruptId'> {
  /** `null` where it was carried out before this worker took the run. */
  readonly interruptId: RecordedStop['interruptId'] | null;
}

/** A supervisor wants an agent to interrupt itself. The agent's next question takes that event. */
export interface InterruptRequest extends Full<api.AskedAgentView> {}

/** A message to an agent of the run. */
export interface Message extends api.WorkMessageView {}

/** What came from outside and is not dealt with. */
export interface Signals
  extends Narrowed<api.SignalsView, { readonly stops: readonly RecordedStop[]; readonly asked: readonly InterruptRequest[] }> {}

/** Something that must not happen twice. */
export interface EffectView extends Narrowed<api.EffectView, { readonly state: 'begun' | 'finished' | 'unknown' }> {}

/** A state that was kept. */
export interface Checkpoint<S = unknown> extends Narrowed<api.CheckpointStateView, { readonly state: S }> {}

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
