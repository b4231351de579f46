import { RouterError } from '../errors.js';
import type { AgentContext } from './context.js';
import { Routed } from './routed.js';
import type { Decision, QuestionView } from './views.js';
import type { RequestOf, RoutesOf, Workflow } from './workflow.js';

/** Yes: do what was asked about. A person may have edited the request. */
export class Approved<Field extends string | null = string | null, Request = unknown> extends Routed<Field, Request> {
  readonly decidedAs = 'approved';
}

/** Neither yes nor no. Read the words, the choices and the confirmations: they may say no. */
export class Answered<Field extends string | null = string | null, Request = unknown> extends Routed<Field, Request> {
  readonly decidedAs = 'answered';
  /** The values that are chosen. */
  readonly choices = this.decision.choices;
  /** What is confirmed, and what is refused. */
  readonly confirmations = this.decision.confirmations;
}

/** It goes elsewhere than where the question came from. Do not do what was asked about. */
export class Rerouted<Field extends string | null = string | null, Request = unknown> extends Routed<Field, Request> {
  readonly decidedAs = 'rerouted';
}

/** There is nothing to do and no route to take. */
interface Undone {
  /** The key of the question. */
  readonly key: string;
  /** The id by which people know the question. */
  readonly interruptId: string;
}

/** No: do nothing. The words say why, where there are some. */
export interface Declined extends Undone {
  readonly decidedAs: 'declined';
  /** What was decided, by whom. */
  readonly decision: Decision;
  /** Which no it is. */
  readonly how: 'reject' | 'ignore' | 'cancel';
  /** The person's words. */
  readonly text: string | null;
}

/** The time ran out: do nothing. */
export interface Expired extends Undone {
  readonly decidedAs: 'expired';
  /** What the deadline decided. */
  readonly decision: Decision | null;
}

/** The question was withdrawn: do nothing. */
export interface Withdrawn extends Undone {
  readonly decidedAs: 'withdrawn';
}

/** What became of a question. Look at `decidedAs` before anything is carried out: a route is there only after a decision that takes one. */
export type Decided<W extends Workflow = Workflow> = OnRoute<RoutesOf<W>> | OnField<null, never> | Declined | Expired | Withdrawn;

type OnField<F extends string | null, R> = Approved<F, R> | Answered<F, R> | Rerouted<F, R>;

type OnRoute<R> = { [F in keyof R & string]: OnField<F, RequestOf<R[F]>> }[keyof R & string];

/** What became of a question that is over. */
export function decidedOf(context: AgentContext, question: QuestionView): Decided<any> {
  const { key, interruptId, decidedAs, decision } = question;
  if (decidedAs === 'withdrawn') return { decidedAs, key, interruptId };
  if (decidedAs === 'expired') return { decidedAs, key, interruptId, decision };
  if (decision !== null) {
    switch (decidedAs) {
      case 'declined':
        return { decidedAs, key, interruptId, decision, how: decision.decision as Declined['how'], text: decision.text };
      case 'approved':
        return new Approved<any, any>(context, question, decision);
      case 'answered':
        return new Answered<any, any>(context, question, decision);
      case 'rerouted':
        return new Rerouted<any, any>(context, question, decision);
    }
  }
  const detail = `the server does not say what the decision of ${key} means (${decidedAs})`;
  throw new RouterError({ code: 'unknown-decision', detail, hint: 'use a server and a client of the same version' });
}
