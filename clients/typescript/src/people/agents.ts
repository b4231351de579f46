import type { JsonObject } from '../json.js';
import { path } from '../wire/path.js';
import type { Transport } from '../wire/transport.js';
import { type Keyed, keyHeader } from './interrupts.js';
import { pages } from './pages.js';
import type { AgentView, Interrupt, InterruptType, MessageView, Mode, SentMessage } from './views.js';

/** Which agents to list. */
export interface AgentFilter {
  readonly status?: string;
  /** Only agents of this kind. */
  readonly type?: string;
  readonly runId?: string;
}

/** How to interrupt an agent: a graceful pause of it alone where nothing else is said. */
export interface InterruptOrder extends Keyed {
  readonly type?: InterruptType;
  readonly mode?: Mode;
  readonly scope?: 'agent' | 'run';
  readonly reason?: string;
  readonly message?: string;
  readonly deadlineMs?: number;
  readonly metadata?: JsonObject;
}

/** The agents of all runs, for people. An agent is named by its address: `run_1/root/refunds`. */
export class Agents {
  constructor(private readonly transport: Transport) {}

  list(filter: AgentFilter = {}): Promise<AgentView[]> {
    const { runId: run_id, ...rest } = filter;
    return pages<AgentView>(this.transport, '/v1/agents', 'agents', { ...rest, run_id });
  }

  get(agent: string): Promise<AgentView> {
    return this.transport.body({ method: 'GET', path: path`/v1/agents/${agent}` });
  }

  /** Pauses, stops or prunes an agent. The request is recorded when this returns; the agent has not stopped yet. */
  interrupt(agent: string, order: InterruptOrder = {}): Promise<Interrupt> {
    const { idempotencyKey: _, ...body } = order;
    return this.transport.body({ method: 'POST', path: path`/v1/agents/${agent}/interrupts`, headers: keyHeader(order), body });
  }

  /** Sends an agent a message. */
  send(agent: string, text: string, keyed: Keyed = {}): Promise<SentMessage> {
    const body = { text };
    return this.transport.body({ method: 'POST', path: path`/v1/agents/${agent}/messages`, headers: keyHeader(keyed), body });
  }

  /** The messages to an agent, in the order in which they were sent. */
  messages(agent: string): Promise<MessageView[]> {
    return pages<MessageView>(this.transport, path`/v1/agents/${agent}/messages`, 'messages', {});
  }
}
