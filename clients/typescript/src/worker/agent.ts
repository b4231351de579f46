import { type ChoiceOption, choiceOf } from '../choice.js';
import type { JsonObject } from '../json.js';
import type * as api from '../wire/api.js';
import { path } from '../wire/path.js';
import type { AgentContext, RunContext } from './context.js';
import { type Decided, decidedOf } from './decided.js';
import { type Effect, type EffectOptions, perform } from './effect.js';
import { Stopped, concernsAgentAlone } from './halt.js';
import type { Halting } from './halting.js';
import { checked } from './keys.js';
import type { InterruptRequest, Message, QuestionView, Stop } from './views.js';
import { untilOver } from './waiting.js';
import type { KindOf, Workflow } from './workflow.js';

/** How agents stand that were stopped alone, and by what. */
const STOPPED_BY: { readonly [S in api.ActivityName]?: Stop['type'] } = { pruned: 'PRUNE', cancelled: 'STOP' };

/** A question to a person. */
export interface Question extends Pick<api.QuestionBody, 'reason' | 'context' | 'answerForm' | 'deadlineMs'> {
  /** Names the place in the code. The same key is the same question, however often the code runs. */
  readonly key: string;
  readonly choices?: readonly ChoiceOption[];
  readonly confirmations?: readonly api.ConfirmationBody[];
  /** Data that people see beside the question. */
  readonly fields?: JsonObject;
}

/** What an agent does, as people see it. */
export interface AgentReport extends Partial<Pick<api.AgentBody, 'status' | 'step' | 'tokens'>> {}

/**
 * An agent of a run. Each call that has a key names a place in the code: it asks and does things once, however often the code runs
 * again after a crash. Each call throws `Stopped` where the agent or its run was told to stop.
 */
export class Agent<W extends Workflow = Workflow> {
  /** Fires when the agent is told to stop, or the run. */
  readonly signal: AbortSignal;
  /** Fires when the work has to end at once: at an immediate stop, or when the run was lost. */
  readonly immediate: AbortSignal;
  private readonly context: AgentContext;

  constructor(
    run: RunContext,
    /** Its id in the run: `root`, or below it `root/refunds`. */
    readonly id: string,
    readonly kind: KindOf<W>,
    private readonly halting: Halting,
  ) {
    this.context = { ...run, agentId: id, halting };
    this.signal = halting.signal;
    this.immediate = halting.immediate;
  }

  /**
   * Asks a person, once, and returns when it is over. A standing rule or the policy may decide without a person. Look at `decidedAs` before
   * anything is carried out.
   */
  ask(question: Question): Promise<Decided<W>> {
    return this.halting.boundary(() => this.asked(question));
  }

  private async asked({ key, choices, ...question }: Question): Promise<Decided<W>> {
    const { id: agentId, kind } = this;
    const body = { ...question, agentId, kind, choices: choices?.map(choiceOf) } satisfies api.QuestionBody;
    const asked = await this.context.owned.write<QuestionView>('PUT', questionPath(key), { body });
    return decidedOf(this.context, await untilOver(this.context, asked, question.deadlineMs)) as Decided<W>;
  }

  /** Withdraws a question that need not be answered any more. */
  async withdraw(key: string): Promise<void> {
    await this.context.owned.write('DELETE', questionPath(key));
    this.context.watch.wake(key);
  }

  /**
   * Does something that must not happen twice, and gives its result: the one that is kept, where it was done before. A graceful stop
   * lets it end. Throws `EffectUnknown` where a worker began it and died, unless the options say what to do then.
   */
  effect<T>(key: string, work: (effect: Effect) => T | Promise<T>, options: EffectOptions<T> = {}): Promise<T> {
    return this.halting.boundary(() => {
      const { effects, busy } = this.context;
      const place = JSON.stringify([key, options.arguments]);
      const doing = effects.get(place) ?? busy.during(() => perform(this.context, checked(key), work, options));
      effects.set(place, doing);
      doing.catch(() => effects.delete(place));
      return doing as Promise<T>;
    });
  }

  /** Tells people that the agent works; `Run.agent` does so. One that was stopped before, by itself, stays so, and its calls throw. */
  async start(): Promise<void> {
    const status = await this.tell({ status: 'running' });
    const type = status && STOPPED_BY[status];
    if (type === undefined) return;
    const stop = { interruptId: null, type, mode: 'immediate', scope: 'agent', agentId: this.id, reason: 'it was stopped before' } as const;
    this.halting.halt(new Stopped(stop), true);
  }

  /** Tells people what the agent does. */
  report(report: AgentReport): Promise<void> {
    return this.halting.boundary(async () => void (await this.tell(report)));
  }

  /** Tells people that the agent has done its work. That is true whether or not it was told to stop meanwhile. */
  async finish(): Promise<void> {
    await this.tell({ status: 'completed' });
  }

  /**
   * Does the work of this agent to its end. Where a person stops this agent alone, its work ends and the run goes on; the result is
   * `undefined` then.
   */
  async task<T>(work: () => Promise<T>): Promise<T | undefined> {
    let result: T | undefined;
    try {
      result = await work();
      if (!(this.isStoppedAlone && this.halting.isKnown)) {
        await this.finish();
        return result;
      }
    } catch (error) {
      if (!this.isStoppedAlone) throw error;
    }
    // Whatever it throws or gives once it has heard of the stop is of the stop.
    await this.context.owned.write('POST', '/stopped', { body: { agentId: this.id } satisfies api.StoppedBody });
    return undefined;
  }

  /**
   * What people have written to this agent since it read its messages last. The server shows them as read from now on. With a key they are
   * kept under it: code that runs again reads the same, so that none is lost with a worker that died after it had read.
   */
  messages(key?: string): Promise<readonly Message[]> {
    return this.halting.boundary(async () => {
      const { owned } = this.context;
      if (key !== undefined) {
        const body = { agentId: this.id } satisfies api.ReadingBody;
        return (await owned.write<api.ReadingView>('PUT', path`/readings/${checked(key)}`, { body })).messages;
      }
      const { messages } = await owned.signals();
      const own = messages.filter((it) => it.agentId === this.id);
      const positions = own.map((it) => it.position);
      if (positions.length > 0) await owned.write('POST', '/messages/read', { body: { positions } satisfies api.ReadBody });
      return own;
    });
  }

  /** A supervisor's request to interrupt itself, if there is one. The next question of this agent takes it. */
  interruptRequest(): Promise<InterruptRequest | null> {
    return this.halting.boundary(async () => {
      const { asked } = await this.context.owned.signals();
      return asked.find((it) => it.agentId === this.id) ?? null;
    });
  }

  /** Whether it is told to stop while the run goes on. */
  private get isStoppedAlone(): boolean {
    const { reason } = this.signal;
    return reason instanceof Stopped && concernsAgentAlone(reason.stop) && reason.stop.agentId === this.id;
  }

  /** How the agent stands then: one that has ended stays so, while the code runs again. */
  private async tell(report: AgentReport): Promise<api.ActivityName | undefined> {
    const { status = 'running', step, tokens } = report;
    const body = { agents: [{ agentId: this.id, kind: this.kind, status, step, tokens }] } satisfies api.AgentsBody;
    const told = await this.context.owned.write<api.AgentsView>('PUT', '/agents', { body });
    return told.agents[0]?.status;
  }
}

function questionPath(key: string): string {
  return path`/questions/${checked(key)}`;
}
