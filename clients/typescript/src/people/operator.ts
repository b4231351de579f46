import { choiceOf } from '../choice.js';
import type * as api from '../wire/api.js';
import { path } from '../wire/path.js';
import { randomId } from '../wire/random-id.js';
import { type Settings, effective } from '../wire/settings.js';
import { type Call, Transport } from '../wire/transport.js';
import { Feed, type FeedOptions } from './feed.js';
import type { AgentFilter, InterruptFilter, Keyed, RunFilter, Seen, Target } from './orders.js';
import type { CancelOptions, DecisionOptions, InterruptRequestOptions, ResumeOptions, StopOptions } from './orders.js';
import { pages } from './pages.js';
import type { AgentTree, AgentView, DecisionName, DecisionRecord, EventState, Interrupt } from './views.js';
import type { MessageView, RunView, SentMessage, WhoAmI } from './views.js';

/**
 * A server, as people use it: it answers, stops and redirects. The token has the role `reviewer` or `supervisor`. An agent is named by
 * its address: `run_1/root/refunds`.
 */
export class Operator {
  private readonly transport: Transport;

  constructor(settings: Settings = {}) {
    this.transport = new Transport(effective(settings));
  }

  /** Who the token speaks for. */
  whoami(): Promise<WhoAmI> {
    return this.read('/v1/whoami');
  }

  /** Interrupts in the order of their admission; by default those that wait for a person. */
  interrupts(filter: InterruptFilter = {}): AsyncGenerator<Interrupt, void, undefined> {
    const query = { ...filter, status: filter.status ?? 'open' };
    return pages<api.InterruptPage, Interrupt>(this.transport, '/v1/interrupts', 'interrupts', query);
  }

  /** One interrupt, with its version. */
  interrupt(id: string): Promise<Interrupt> {
    return this.read(path`/v1/interrupts/${id}`);
  }

  /** Claims a question: other people cannot decide it for that time. */
  claim(seen: Seen, options: { readonly seconds?: number } = {}): Promise<Interrupt> {
    const body = { ttlS: options.seconds } satisfies api.ClaimBody;
    return this.write('PUT', path`/v1/interrupts/${seen.id}/claim`, body, ifMatch(seen));
  }

  /** Gives a claim back. */
  release(seen: Seen): Promise<Interrupt> {
    return this.write('DELETE', path`/v1/interrupts/${seen.id}/claim`, undefined, ifMatch(seen));
  }

  /**
   * Decides about an interrupt as it was read. Throws `StaleVersion` where it has changed since, and `AlreadyResolved` where another
   * person was faster.
   */
  decide(seen: Seen, decision: DecisionName, options: DecisionOptions = {}): Promise<DecisionRecord> {
    const { choices: selectedChoices, text, confirmations, request: editedRequest, rerouteTo, message, remember } = options;
    const payload = { selectedChoices, text, confirmations, editedRequest, ...options.payload };
    const isSaid = Object.values(payload).some((it) => it !== undefined);
    const { shownDigest } = seen;
    const body = { decision, payload: isSaid ? payload : undefined, rerouteTo, message, remember, shownDigest } satisfies api.DecisionBody;
    return this.write('POST', path`/v1/interrupts/${seen.id}/decisions`, body, { ...ifMatch(seen), ...keyHeader(options.key) });
  }

  /** Withdraws an interrupt that is not wanted any more. */
  withdraw(id: string): Promise<Interrupt> {
    return this.write('DELETE', path`/v1/interrupts/${id}`);
  }

  /** Asks a running agent to interrupt itself; the answer to its next question then goes to `rerouteTo`. */
  requestInterrupt(agent: Target, reason: string, options: InterruptRequestOptions = {}): Promise<EventState> {
    const event = {
      eventId: options.eventId ?? randomId(),
      timestamp: options.timestamp ?? new Date().toISOString(),
      nodeId: agent.agentId,
      sourceAgentType: agent.agentType,
      interruptType: 'HUMAN_REVIEW',
      reason,
      rerouteToAgentType: options.rerouteTo,
      contextForDecision: options.context,
      choices: options.choices?.map(choiceOf),
      confirmationItems: options.confirmations,
      answerForm: options.answerForm,
    } satisfies api.InterruptRequestEvent;
    // An event has the names of its own form, which are not those of other bodies.
    return this.transport.body({ method: 'POST', path: '/v1/interrupt-requests', rawBody: event });
  }

  /** What became of a request to interrupt. */
  interruptRequest(eventId: string): Promise<EventState> {
    return this.read(path`/v1/interrupt-requests/${eventId}`);
  }

  /** Runs in the order of their creation. */
  runs(filter: RunFilter = {}): AsyncGenerator<RunView, void, undefined> {
    return pages<api.RunPage, RunView>(this.transport, '/v1/runs', 'runs', { ...filter });
  }

  /** A run, by its id or alias. */
  run(run: string): Promise<RunView> {
    return this.read(path`/v1/runs/${run}`);
  }

  /** The agents of a run, each with those that it started. */
  tree(run: string): Promise<AgentTree[]> {
    return this.read(path`/v1/runs/${run}/tree`);
  }

  /** Agents in the order in which they were started. */
  agents(filter: AgentFilter = {}): AsyncGenerator<AgentView, void, undefined> {
    return pages<api.AgentPage, AgentView>(this.transport, '/v1/agents', 'agents', { ...filter });
  }

  /** An agent, by its address. */
  agent(agent: string): Promise<AgentView> {
    return this.read(path`/v1/agents/${agent}`);
  }

  /** Stops an agent. The stop is recorded when this returns, and carried out when the worker says so. */
  stop(agent: string, { key, type = 'PAUSE', ...how }: StopOptions = {}): Promise<Interrupt> {
    const body = { type, ...how } satisfies api.InterruptBody;
    return this.write('POST', path`/v1/agents/${agent}/interrupts`, body, keyHeader(key));
  }

  /** Ends a run. The stop is recorded when this returns, and carried out when the worker says so. */
  cancel(run: string, { key, ...body }: CancelOptions = {}): Promise<Interrupt> {
    return this.write('POST', path`/v1/runs/${run}/cancel`, body, keyHeader(key));
  }

  /** Resumes a paused run, or begins another one from a checkpoint. Gives the id of the run that goes on. */
  async resume(run: string, { key, ...body }: ResumeOptions = {}): Promise<string> {
    const { runId } = await this.write<api.ResumedView>('POST', path`/v1/runs/${run}/resume`, body, keyHeader(key));
    return runId;
  }

  /** Writes to an agent, which reads it when its code asks for messages. */
  send(agent: string, text: string, { key }: Keyed = {}): Promise<SentMessage> {
    const body = { text } satisfies api.MessageBody;
    return this.write('POST', path`/v1/agents/${agent}/messages`, body, keyHeader(key));
  }

  /** The messages to an agent, in the order in which they were sent. */
  messages(agent: string): AsyncGenerator<MessageView, void, undefined> {
    return pages<api.MessagePage, MessageView>(this.transport, path`/v1/agents/${agent}/messages`, 'messages');
  }

  /** The feed of events, after a position or from now on. */
  events(options: FeedOptions = {}): Feed {
    return new Feed(this.transport, options);
  }

  private read<T>(address: string): Promise<T> {
    return this.transport.body<T>({ method: 'GET', path: address });
  }

  private write<T>(method: Call['method'], address: string, body?: unknown, headers: Headers = {}): Promise<T> {
    return this.transport.body<T>({ method, path: address, body, headers });
  }
}

type Headers = Readonly<Record<string, string>>;

function ifMatch(seen: Seen): Headers {
  return { 'if-match': `"${seen.version}"` };
}

function keyHeader(key: string | undefined): Headers {
  return key === undefined ? {} : { 'idempotency-key': key };
}
