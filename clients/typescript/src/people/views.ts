import type { JsonObject } from '../json.js';
import type * as api from '../wire/api.js';

// What people see is what the server says of it. The types that are written out here say more than its document does.
export type { AgentView, DecisionName, MessageView, RunView, WhoAmI } from '../wire/api.js';
export type { AskingView as StopRequest, SentView as SentMessage, TreeNode as AgentTree } from '../wire/api.js';
export type { ChoiceView as Choice, ConfirmationView as Confirmation, RouteView as RouteOption } from '../wire/api.js';
export type { ModeName as Mode, TypeName as InterruptType } from '../wire/api.js';

/** The decision of an interrupt, as people see it. */
export interface DecisionRecord extends api.DecisionView {
  readonly payload?: JsonObject;
}

/** A question or a stop, as people see it. */
export interface Interrupt extends api.InterruptView {
  /** The agent's own fields. */
  readonly fields: JsonObject;
  /** The JSON Schema of the payload of a decision. */
  readonly responseSchema: JsonObject | boolean;
  readonly decision?: DecisionRecord;
}

/** What became of a reroute event. */
export interface EventState extends api.FateView {
  readonly interrupt: Interrupt;
  readonly decision?: DecisionRecord;
}
