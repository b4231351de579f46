import type { DecisionName } from '../people/views.js';
import type * as api from '../wire/api.js';
import type { Full, Seen } from '../wire/form.js';

/** A run as its workers see it. */
export interface WorkView
  extends Seen<
    Full<api.WorkView>,
    | 'runId'
    | 'threadId'
    | 'workflow'
    | 'state'
    | 'reason'
    | 'input'
    | 'epoch'
    | 'worker'
    | 'leaseUntil'
    | 'checkpoint'
    | 'result'
  > {}

/** A decision as the worker that asked sees it. */
export interface Decision
  extends Seen<
    Full<api.WorkDecisionView>,
    'id' | 'text' | 'choices' | 'confirmations' | 'by' | 'at',
    { readonly decision: Exclude<DecisionName, 'resume'> }
  > {}

/** The route that a decision fixed. */
export interface FixedRoute extends Seen<api.TakenRouteView, 'name' | 'field' | 'rerouted'> {}

/** A question as it stands. */
export interface QuestionView
  extends Seen<
    Full<api.WorkQuestionView>,
    'key' | 'interruptId' | 'agentId' | 'kind' | 'state' | 'reason' | 'decidedAs' | 'request' | 'correctionsLeft' | 'asked',
    {
      readonly decision: Decision | null;
      readonly route: FixedRoute | null;
    }
  > {}

/** Providers whose limits and words a schema can follow. */
export type Dialect = api.DialectName;

/** The schema that a model is shown; with the dialect `grammar`, whatever the server gives in its place. */
export interface NarrowedSchema extends Seen<api.SchemaView, 'name' | 'dialect' | 'schema' | 'field'> {}

/** A stop that was asked for, as the server records it. */
export interface RecordedStop extends Seen<api.StopView, 'interruptId' | 'type' | 'mode' | 'scope' | 'agentId' | 'reason'> {}

/** A stop that was asked for. */
export interface Stop extends Omit<RecordedStop, 'interruptId'> {
  /** `null` where it was carried out before this worker took the run. */
  readonly interruptId: string | null;
}

/** A supervisor wants an agent to interrupt itself. The agent's next question takes that event. */
export interface InterruptRequest extends Seen<Full<api.AskedAgentView>, 'interruptId' | 'agentId' | 'reason' | 'rerouteTo'> {}

/** A message to an agent of the run. */
export interface Message extends Seen<api.WorkMessageView, 'position' | 'agentId' | 'text' | 'from'> {}

/** What came from outside and is not dealt with. */
export interface Signals
  extends Seen<
    api.SignalsView,
    'stopping' | 'decided' | 'cursor',
    {
      readonly stops: readonly RecordedStop[];
      readonly asked: readonly InterruptRequest[];
      readonly messages: readonly Message[];
    }
  > {}

/** Something that must not happen twice. */
export interface EffectView extends Seen<api.EffectView, 'state' | 'result'> {}

/** A state that was kept. */
export interface Checkpoint<S = unknown> extends Seen<api.CheckpointStateView, 'number' | 'reason', { readonly state: S }> {}

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
