import type { JsonObject } from '../json.js';
import type * as api from '../wire/api.js';
import type { Seen, Sparse } from '../wire/form.js';

/** What a person can decide. */
export type DecisionName = api.DecisionName;

/** What an interrupt does. */
export type InterruptType = api.TypeName;

/** How a stop comes: after the current step, or at once. */
export type Mode = api.ModeName;

/** One of the answers to choose from. */
export interface Choice extends Seen<api.ChoiceView, 'value' | 'label' | 'description'> {}

/** What a person has to confirm or refuse. */
export interface Confirmation extends Seen<Sparse<api.ConfirmationView>, 'id' | 'prompt' | 'defaultValue' | 'impactIfNo'> {}

/** Where an answer could go. */
export interface RouteOption extends Seen<api.RouteView, 'agentType' | 'label' | 'allowed'> {}

/** The decision of an interrupt, as people see it. */
export interface DecisionRecord
  extends Seen<
    Sparse<api.DecisionView>,
    'decisionId' | 'interruptId' | 'decision' | 'target' | 'by' | 'ruleId' | 'at' | 'version',
    { readonly payload?: JsonObject }
  > {}

/** One request for a stop. */
export interface StopRequest
  extends Seen<
    Sparse<api.AskingView>,
    'id' | 'by' | 'source' | 'mode' | 'reason' | 'requestedAt',
    { readonly withdrawn?: Seen<api.TakenBackView, 'by' | 'at'> }
  > {}

/** A question or a stop, as people see it. */
export interface Interrupt
  extends Seen<
    Sparse<api.InterruptView>,
    | 'id'
    | 'runId'
    | 'agentId'
    | 'agentType'
    | 'type'
    | 'mode'
    | 'scope'
    | 'allowedDecisions'
    | 'kind'
    | 'source'
    | 'requestedBy'
    | 'requestedAt'
    | 'priority'
    | 'state'
    | 'reason'
    | 'contextForDecision'
    | 'answerForm'
    | 'rerouteToAgentType'
    | 'assignee'
    | 'heldBy'
    | 'expiresAt'
    | 'onExpiry'
    | 'acknowledgedAt'
    | 'resolvedAt'
    | 'lastError'
    | 'shownDigest'
    | 'version',
    {
      readonly askings: readonly StopRequest[];
      readonly choices: readonly Choice[];
      readonly confirmationItems: readonly Confirmation[];
      /** The agent's own fields. */
      readonly fields: JsonObject;
      /** The JSON Schema of the payload of a decision. */
      readonly responseSchema: JsonObject | boolean;
      readonly routes: readonly RouteOption[];
      readonly claimedBy?: Seen<api.ClaimView, 'by' | 'until'>;
      readonly decision?: DecisionRecord;
    }
  > {}

/** A run, as people see it. */
export interface RunView
  extends Seen<
    Sparse<api.RunView>,
    | 'runId'
    | 'threadId'
    | 'reason'
    | 'goal'
    | 'executing'
    | 'waitsForServer'
    | 'checkpoint'
    | 'forkedFrom'
    | 'createdAt'
    | 'openInterrupts'
    | 'status'
    | 'version'
  > {}

/** An agent, as people see it. */
export interface AgentView
  extends Seen<
    Sparse<api.AgentView>,
    | 'agentId'
    | 'nodeId'
    | 'agentType'
    | 'parentId'
    | 'runId'
    | 'status'
    | 'since'
    | 'currentStep'
    | 'turn'
    | 'tokens'
    | 'takesMessages'
    | 'openInterrupts'
    | 'canRouteTo'
  > {}

/** An agent with those that it started. */
export interface AgentTree extends Seen<Sparse<api.TreeNode>, keyof AgentView, { readonly children: readonly AgentTree[] }> {}

/** A message to an agent. */
export interface MessageView
  extends Seen<Sparse<api.MessageView>, 'message' | 'agentId' | 'text' | 'from' | 'at' | 'state' | 'since' | 'withdrawnBy'> {}

/** A message that was accepted. */
export interface SentMessage extends Seen<api.SentView, 'message' | 'agentId' | 'at'> {}

/** What became of a reroute event. */
export interface EventState
  extends Seen<
    Sparse<api.FateView>,
    'eventId' | 'state' | 'target',
    { readonly interrupt: Interrupt; readonly decision?: DecisionRecord }
  > {}

/** Who the token belongs to. */
export interface WhoAmI
  extends Seen<Sparse<api.WhoAmI>, 'name' | 'role' | 'version' | 'instance' | 'seq' | 'runId' | 'agentId'> {}
