import type { JsonObject } from '../json.js';

/** What a person can decide. */
export type DecisionName =
  | 'approve'
  | 'edit'
  | 'reject'
  | 'respond'
  | 'ignore'
  | 'reroute'
  | 'modify_plan'
  | 'cancel'
  | 'resume';

/** What an interrupt does. */
export type InterruptType = 'HUMAN_REVIEW' | 'AGENT_REVIEW' | 'PAUSE' | 'STOP' | 'PRUNE' | 'BRANCH';

/** How a stop comes: after the current step, or at once. */
export type Mode = 'graceful' | 'immediate';

/** One of the answers to choose from. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly description: string;
}

/** What a person has to confirm or refuse. */
export interface Confirmation {
  readonly id: string;
  readonly prompt: string;
  readonly defaultValue?: boolean;
  readonly impactIfNo?: string;
}

/** Where an answer could go. */
export interface RouteOption {
  readonly agentType: string;
  readonly label: string;
  /** Whether it goes there unless a person sends it elsewhere. */
  readonly allowed: boolean;
}

/** The decision of an interrupt, as people see it. */
export interface DecisionRecord {
  readonly decisionId: string;
  readonly interruptId: string;
  readonly decision: DecisionName;
  /** Where the run goes on. */
  readonly target: string;
  readonly by: string;
  /** The standing rule that decided. */
  readonly ruleId?: string;
  readonly at: string;
  readonly version: number;
  readonly payload?: JsonObject;
}

/** One request for a stop. */
export interface StopRequest {
  readonly id: string;
  readonly by: string;
  readonly source: string;
  readonly mode: Mode;
  readonly reason: string;
  readonly requestedAt: string;
  readonly withdrawn?: { readonly by: string; readonly at: string };
}

/** A question or a stop, as people see it. */
export interface Interrupt {
  readonly id: string;
  readonly runId: string;
  /** The agent, with its run: `run_1/root/refunds`. */
  readonly agentId: string;
  readonly agentType: string;
  readonly type: InterruptType;
  /** What it is about, for inboxes: `human_review`, `permission`, `user_escape`. */
  readonly kind: string;
  readonly source: string;
  readonly requestedBy: string;
  readonly requestedAt: string;
  readonly askings: readonly StopRequest[];
  readonly mode: Mode;
  readonly scope: 'agent' | 'run';
  readonly priority: number;
  readonly state: string;
  readonly reason: string;
  readonly contextForDecision: string;
  readonly choices: readonly Choice[];
  readonly confirmationItems: readonly Confirmation[];
  /** The agent's own fields. */
  readonly fields: JsonObject;
  readonly allowedDecisions: readonly DecisionName[];
  /** The JSON Schema of the payload of a decision. */
  readonly responseSchema: JsonObject | boolean;
  readonly routes: readonly RouteOption[];
  /** Where the event of a supervisor sends the answer. */
  readonly rerouteToAgentType?: string;
  readonly assignee?: string;
  readonly claimedBy?: { readonly by: string; readonly until: string };
  /** The interrupt that comes first. */
  readonly heldBy?: string;
  readonly expiresAt?: string;
  readonly onExpiry: string;
  readonly acknowledgedAt?: string;
  readonly resolvedAt?: string;
  readonly lastError?: string;
  /** The digest of what a person is shown. */
  readonly shownDigest?: string;
  readonly decision?: DecisionRecord;
  /** Counts its changes; a decision names the one that was read. */
  readonly version: number;
}

/** A run, as people see it. */
export interface RunView {
  readonly runId: string;
  readonly threadId: string;
  readonly status: 'created' | 'running' | 'stopping' | 'paused' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  readonly reason?: string;
  readonly goal?: string;
  /** Whether a process works on it now. */
  readonly executing: boolean;
  readonly waitsForServer: boolean;
  readonly checkpoint: number;
  readonly forkedFrom?: string;
  readonly createdAt: string;
  readonly openInterrupts?: readonly string[];
  readonly version: number;
}

/** An agent, as people see it. */
export interface AgentView {
  /** Its address: the run, and the agent in it. */
  readonly agentId: string;
  /** The agent in its run: `root/refunds`. */
  readonly nodeId: string;
  readonly agentType: string;
  readonly parentId?: string;
  readonly runId: string;
  readonly status: string;
  readonly since: string;
  readonly currentStep: number;
  readonly turn: number;
  readonly tokens: number;
  readonly takesMessages: boolean;
  readonly openInterrupts: readonly string[];
  readonly canRouteTo: readonly string[];
}

/** An agent with those that it started. */
export interface AgentTree extends AgentView {
  readonly children: readonly AgentTree[];
}

/** A message to an agent. */
export interface MessageView {
  readonly message: number;
  readonly agentId: string;
  readonly text: string;
  readonly from: string;
  readonly at: string;
  readonly state: 'waiting' | 'read' | 'unread' | 'withdrawn';
  readonly since?: string;
  readonly withdrawnBy?: string;
}

/** A message that was accepted. */
export interface SentMessage {
  readonly message: number;
  readonly agentId: string;
  readonly at: string;
}

/** What became of a reroute event. */
export interface EventState {
  readonly eventId: string;
  readonly state: string;
  readonly target: string;
  readonly interrupt: Interrupt;
  readonly decision?: DecisionRecord;
}

/** Who the token belongs to. */
export interface WhoAmI {
  readonly name: string;
  readonly role: string;
  readonly version: string;
  readonly instance: string;
  /** The last position of the feed. */
  readonly seq: string;
  readonly runId?: string;
  readonly agentId?: string;
}
