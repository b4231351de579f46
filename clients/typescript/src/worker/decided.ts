import { RouterError } from '../errors.js';
import type { AgentContext } from './context.js';
import { Routed } from './routed.js';
import { type Decision, type QuestionView, isDecided } from './views.js';
import type { RequestOf, RoutesOf, Workflow } from './workflow.js';

/** Yes: do what was asked about. A person may have edited the request. */
export class Approved<Field extends string | null = string | null, Request = unknown> extends Routed<Field, Request> {
  readonly decidedAs = 'approved';
}

/** Neither yes nor no. Read the words, the choices and the confirmations: they may say no. */
export class Answered<Field extends string | null = string | null, Request = unknown> extends Routed<Field, Request> {
  readonly decidedAs = 'answered';

  /** The values that are chosen. */
  get choices(): readonly string[] {
    return this.decision.choices;
  }

  /** What is confirmed, and what is refused. */
  get confirmations(): Readonly<Record<string, boolean>> {
    return this.decision.confirmations;
  }
}

/** It goes elsewhere than where the question came from. Do not do what was asked about. */
export class Rerouted<Field extends string | null = string | null, Request = unknown> extends Routed<Field, Request> {
  readonly decidedAs = 'rerouted';
}

/** There is nothing to do and no route to take. */
class Undone {
  constructor(protected readonly question: QuestionView) {}

  /** The key of the question. */
  get key(): string {
    return this.question.key;
  }

  /** The id by which people know the question. */
  get interruptId(): string {
    return this.question.interruptId;
  }
}

/** No: do nothing. The words say why, where there are some. */
export class Declined extends Undone {
  readonly decidedAs = 'declined';

  /** What was decided, by whom. */
  get decision(): Decision {
    return this.question.decision as Decision;
  }

  /** Which no it is. */
  get how(): 'reject' | 'ignore' | 'cancel' {
    return this.decision.decision as 'reject' | 'ignore' | 'cancel';
  }

  /** The person's words. */
  get text(): string | null {
    return this.decision.text;
  }
}

/** The time ran out: do nothing. */
export class Expired extends Undone {
  readonly decidedAs = 'expired';

  /** What the deadline decided. */
  get decision(): Decision | null {
    return this.question.decision;
  }
}

/** The question was withdrawn: do nothing. */
export class Withdrawn extends Undone {
  readonly decidedAs = 'withdrawn';
}

/** What became of a question. Look at `decidedAs` before anything is carried out: a route is there only after a decision that takes one. */
export type Decided<W extends Workflow = Workflow> = OnRoute<RoutesOf<W>> | OnField<null, never> | Declined | Expired | Withdrawn;

type OnField<F extends string | null, R> = Approved<F, R> | Answered<F, R> | Rerouted<F, R>;

type OnRoute<R> = { [F in keyof R & string]: OnField<F, RequestOf<R[F]>> }[keyof R & string];

/** What became of a question that is over. */
export function decidedOf(context: AgentContext, question: QuestionView): Decided<any> {
  switch (question.decidedAs) {
    case 'declined':
      return new Declined(question);
    case 'expired':
      return new Expired(question);
    case 'withdrawn':
      return new Withdrawn(question);
  }
  if (isDecided(question)) {
    switch (question.decidedAs) {
      case 'approved':
        return new Approved<any, any>(context, question);
      case 'answered':
        return new Answered<any, any>(context, question);
      case 'rerouted':
        return new Rerouted<any, any>(context, question);
    }
  }
  const detail = `the server does not say what the decision of ${question.key} means (${String(question.decidedAs)})`;
  throw new RouterError({ code: 'unknown-decision', detail, hint: 'use a server and a client of the same version' });
}
