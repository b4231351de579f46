import type { JsonObject } from '../json.js';
import type * as api from '../wire/api.js';
import type { Narrowed, Sparse } from '../wire/form.js';

/** What a person can decide. */
export type DecisionName = api.DecisionName;

/** What an interrupt does. */
export type InterruptType = api.TypeName;

/** How a stop comes: after the current step, or at once. */
export type Mode = api.ModeName;

/** One of the answers to choose from. */
export interface Choice extends Sparse<api.ChoiceView> {}

/** What a person has to confirm or refuse. */
export interface Confirmation extends Sparse<api.ConfirmationView> {}

/** Where an answer could go. */
export interface RouteOption extends Sparse<api.RouteView> {}

/** The decision of an interrupt, as people see it. */
export interface DecisionRecord
  extends Narrowed<Sparse<api.DecisionView>, { readonly decision: DecisionName; readonly payload?: JsonObject }> {}

/** One request for a stop. */
export interface StopRequest extends Narrowed<Sparse<api.AskingView>, { readonly mode: Mode }> {}

/** A question or a stop, as people see it. */
export interface Interrupt
  extends Narrowed<
    Sparse<api.InterruptView>,
    {
      readonly type: InterruptType;
      readonly mode: Mode;
      readonly scope: api.ScopeName;
      readonly askings: readonly StopRequest[];
      readonly fields: JsonObject;
      readonly allowedDecisions: readonly DecisionName[];
      /** The JSON Schema of the payload of a decision. */
      readonly responseSchema: JsonObject | boolean;
      readonly decision?: DecisionRecord;
    }
  > {}

/** A run, as people see it. */
export interface RunView
  extends Narrowed<
    Sparse<api.RunView>,
    {
      readonly status: 'created' | 'running' | 'stopping' | 'paused' | 'waiting' | 'completed' | 'failed' | 'cancelled';
    }
  > {}

/** An agent, as people see it. */
export interface AgentView extends Sparse<api.AgentView> {}

/** An agent with those that it started. */
export interface AgentTree extends Narrowed<Sparse<api.TreeNode>, { readonly children: readonly AgentTree[] }> {}

/** A message to an agent. */
export interface MessageView extends Sparse<api.MessageView> {}

/** A message that was accepted. */
export interface SentMessage extends Sparse<api.SentView> {}

/** What became of a reroute event. */
export interface EventState
  extends Narrowed<Sparse<api.FateView>, { readonly interrupt: Interrupt; readonly decision?: DecisionRecord }> {}

/** Who the token belongs to. */
export interface WhoAmI extends Sparse<api.WhoAmI> {}
