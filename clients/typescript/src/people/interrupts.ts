import type { JsonObject } from '../json.js';
import { path } from '../wire/path.js';
import { randomId } from '../wire/random-id.js';
import type { Call, Transport } from '../wire/transport.js';
import { pages } from './pages.js';
import type { DecisionName, DecisionRecord, EventState, Interrupt, InterruptType } from './views.js';

/** Which interrupts to list. */
export interface InterruptFilter {
  /** `open` (all that wait for a person), `live`, `claimed`, `resolved`, `expired`, `cancelled`, or one state. */
  readonly status?: string;
  readonly kind?: string;
  readonly source?: 'user' | 'system' | 'programmatic';
  readonly runId?: string;
  readonly agentId?: string;
  readonly assignee?: string;
  readonly priority?: number;
}

/** What a person fills in with a decision. */
export interface Answer {
  readonly selectedChoices?: readonly string[];
  readonly confirmations?: Readonly<Record<string, boolean>>;
  readonly text?: string;
  /** The request of the route, filled in by the person. No model is needed then. */
  readonly editedRequest?: JsonObject;
  readonly [member: string]: unknown;
}

/** A decision to make. */
export interface DecisionOrder {
  readonly decision: DecisionName;
  readonly payload?: Answer;
  /** Words for the agent. */
  readonly message?: string;
  /** Where the answer goes, with the decision `reroute`. */
  readonly rerouteTo?: string;
  /** Answer the same question in this way from now on. */
  readonly remember?: { readonly scope?: 'agent' | 'run' | 'everywhere'; readonly ttlS?: number; readonly maxUses?: number };
  /** The digest of what the person saw: a version that asks the same is decided, too. */
  readonly shownDigest?: string;
}

/** What identifies the state of an interrupt that a person has read. */
export type Seen = Pick<Interrupt, 'id' | 'version'>;

/** Sent again with this key, the request is the same request. A random one where it is absent. */
export interface Keyed {
  readonly idempotencyKey?: string;
}

/** A supervisor's event: the agent shall interrupt itself, and its answer goes where the event says. */
export interface RerouteEvent {
  readonly nodeId: string;
  readonly sourceAgentType: string;
  readonly rerouteToAgentType?: string;
  readonly reason: string;
  /** Random where it is absent. The same event may be published again. */
  readonly eventId?: string;
  readonly timestamp?: string;
  readonly interruptType?: InterruptType;
  readonly choices?: readonly { readonly value: string; readonly label: string; readonly description: string }[];
  readonly confirmationItems?: readonly {
    readonly id: string;
    readonly prompt: string;
    readonly defaultValue?: boolean;
    readonly impactIfNo?: string;
  }[];
  readonly contextForDecision?: string;
}

/** The questions and stops of all runs, for people and for programs that act for them. */
export class Interrupts {
  constructor(private readonly transport: Transport) {}

  /** All interrupts that the filter lets through, in the order of their admission. */
  list(filter: InterruptFilter = {}): Promise<Interrupt[]> {
    const { runId: run_id, agentId: agent_id, ...rest } = filter;
    return pages<Interrupt>(this.transport, '/v1/interrupts', 'interrupts', { ...rest, run_id, agent_id });
  }

  get(id: string): Promise<Interrupt> {
    return this.transport.body({ method: 'GET', path: path`/v1/interrupts/${id}` });
  }

  /** Keeps others from deciding for a while. */
  claim(id: string, ttlS?: number): Promise<Interrupt> {
    return this.transport.body({ method: 'PUT', path: path`/v1/interrupts/${id}/claim`, body: { ttlS } });
  }

  /** Gives a claim back. */
  release(id: string): Promise<Interrupt> {
    return this.transport.body({ method: 'DELETE', path: path`/v1/interrupts/${id}/claim` });
  }

  /**
   * Decides about what was read. If another person was first this throws `AlreadyResolved`, and `StaleVersion` if the interrupt has
   * changed since.
   */
  decide(seen: Seen, order: DecisionOrder, keyed: Keyed = {}): Promise<DecisionRecord> {
    return this.transport.body({
      method: 'POST',
      path: path`/v1/interrupts/${seen.id}/decisions`,
      headers: { 'if-match': `"${seen.version}"`, ...keyHeader(keyed) },
      body: order,
    });
  }

  /** Takes back a question, or what this token asked of a stop. */
  withdraw(id: string): Promise<Interrupt> {
    return this.transport.body({ method: 'DELETE', path: path`/v1/interrupts/${id}` });
  }

  /** Publishes a reroute event. */
  publish(event: RerouteEvent): Promise<EventState> {
    const rawBody = {
      eventId: randomId(),
      timestamp: new Date().toISOString(),
      interruptType: 'HUMAN_REVIEW',
      ...event,
    };
    return this.transport.body({ method: 'POST', path: '/v1/interrupt-requests', rawBody });
  }

  /** What became of a reroute event. */
  event(eventId: string): Promise<EventState> {
    return this.transport.body({ method: 'GET', path: path`/v1/interrupt-requests/${eventId}` });
  }
}

/** The header of a key, where the caller brings one. */
export function keyHeader(keyed: Keyed): NonNullable<Call['headers']> {
  return keyed.idempotencyKey === undefined ? {} : { 'idempotency-key': keyed.idempotencyKey };
}
