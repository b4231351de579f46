import { AnswerRejected, Conflict } from '../errors.js';
import type * as api from '../wire/api.js';
import { path } from '../wire/path.js';
import type { AgentContext } from './context.js';
import { Unfilled } from './halt.js';
import { rejection, task } from './prompt.js';
import type { Decision, Dialect, Model, NarrowedSchema, QuestionView } from './views.js';
import { untilOver } from './waiting.js';

/** A decision that takes a route, and the one that it leaves. */
export abstract class Routed<Field extends string | null = string | null, Request = unknown> {
  /** The key of the question. */
  readonly key: string;
  /** The id by which people know the question. */
  readonly interruptId: string;
  /** The person's words. */
  readonly text: string | null;
  /** The field of the route. `null` where the answer only goes back to the agent: then the decision is all there is. */
  readonly field: Field;
  /** The name of the route, as people choose it. */
  readonly route: Field extends string ? string : null;

  constructor(
    private readonly context: AgentContext,
    private question: QuestionView,
    /** What the person, the policy or a standing rule decided. */
    readonly decision: Decision,
  ) {
    const { key, interruptId, route } = question;
    this.key = key;
    this.interruptId = interruptId;
    this.text = decision.text;
    this.field = (route?.field ?? null) as Field;
    this.route = (route?.name ?? null) as Field extends string ? string : null;
  }

  /** The request, once a model or a person has filled it in; `null` before. */
  get request(): Request | null {
    return this.question.request as Request | null;
  }

  /** The schema to hand to a model: it has one property, the field of the route. */
  schema(dialect: Dialect = 'json-schema'): Promise<NarrowedSchema> {
    return this.context.owned.read<NarrowedSchema>(path`/questions/${this.key}/schema`, { query: { dialect } satisfies api.SchemaQuery });
  }

  /**
   * Submits what a model said, an object or its text as it came, and gives the request. Throws `AnswerRejected` with the places that do
   * not fit. Gives `null` where the model has failed too often: a person is asked then, and `fill` waits for that.
   */
  async submit(answer: unknown): Promise<Request | null> {
    const below = path`/questions/${this.key}/request`;
    const question = await this.context.owned.write<QuestionView>('POST', below, { body: { answer } satisfies api.AnswerBody });
    return this.keep(question);
  }

  /**
   * Lets a model fill in the request, explains its mistakes to it, and waits for a person where it keeps failing. No model is called
   * where there is a request already, because a person or an earlier worker filled it in.
   */
  fill(model: Model, dialect: Dialect = 'json-schema'): Promise<Request> {
    return this.context.halting.boundary(async () => {
      if (this.field === null) throw noRoute(this.key);
      if (this.request === null && !this.question.asked) await this.context.busy.during(() => this.askModel(model, dialect));
      return this.request ?? this.askPerson();
    });
  }

  private async askModel(model: Model, dialect: Dialect): Promise<void> {
    const { signal, immediate } = this.context.halting;
    const schema = await this.schema(dialect);
    const messages = [task(schema.field, this.question, this.decision)];
    for (;;) {
      signal.throwIfAborted();
      const answer: unknown = await model({ ...schema, messages: [...messages], signal: immediate });
      try {
        await this.submit(answer);
        return;
      } catch (error) {
        if (!(error instanceof AnswerRejected)) throw error;
        messages.push(...rejection(answer, error.errors));
      }
    }
  }

  private async askPerson(): Promise<Request> {
    const key = this.question.asked ?? `${this.key}:request`;
    const { owned } = this.context;
    const { decision } = await untilOver(this.context, await owned.question(key));
    const request = this.keep(await owned.question(this.key));
    if (request === null) throw new Unfilled(this.key, decision?.text);
    return request;
  }

  private keep(question: QuestionView): Request | null {
    this.question = question;
    return this.request;
  }
}

function noRoute(key: string): Conflict {
  const detail = `the answer to ${key} takes no route, so there is no request`;
  return new Conflict({ code: 'no-route', detail, hint: 'read `decision`; give the kind a route in the workflow' });
}
