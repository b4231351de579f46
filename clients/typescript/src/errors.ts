import type { ProblemCode } from './wire/api.js';

/** One thing in a body that does not fit. */
export interface Misfit {
  /** Where it is, as a JSON pointer: `/refund/cents`. */
  readonly pointer: string;
  readonly message: string;
}

/** A problem document (RFC 9457) as the server sent it. */
export interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly hint?: string;
  readonly status?: number;
  readonly title?: string;
  readonly errors?: readonly Misfit[];
  readonly [member: string]: unknown;
}

/** What went wrong, in the terms of a problem document. */
export interface Failure extends Problem {
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** The base of every error of this package. */
export class RouterError extends Error {
  /** Tells programs which problem it is: `lease-lost`. */
  readonly code: string;
  /** What is wrong, in words. */
  readonly detail: string;
  /** What to do about it. */
  readonly hint: string;
  /** Each part of a body that does not fit. */
  readonly errors: readonly Misfit[];
  /** The HTTP status, where a response carried the error. */
  readonly status: number | undefined;
  /** The whole problem document, with the members that only this problem has. */
  readonly problem: Problem;
  /** How long the server asked to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(failure: Failure) {
    const { cause, retryAfterMs, ...problem } = failure;
    super(message(problem), cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = problem.code;
    this.detail = problem.detail;
    this.hint = problem.hint ?? '';
    this.errors = problem.errors ?? [];
    this.status = problem.status;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

function message(problem: Problem): string {
  const misfits = (problem.errors ?? []).map((it) => `${it.pointer}: ${it.message}`);
  const hint = problem.hint ? [`(${problem.hint})`] : [];
  return [problem.detail, ...misfits.filter((it) => !problem.detail.includes(it)), ...hint].join('\n');
}

/** The token is missing, unknown, expired or revoked. */
export class Unauthenticated extends RouterError {}
/** The role of the token does not allow this. */
export class Forbidden extends RouterError {}
/** There is no such run, question, agent or message. */
export class NotFound extends RouterError {}
/** The request does not have the form that the server wants; `errors` says where. */
export class Invalid extends RouterError {}
/** What is there does not allow this now. The classes below say what exactly, where it is known. */
export class Conflict extends RouterError {}
/** The worker no longer owns the run; nothing was written. */
export class LeaseLost extends Conflict {}
/** Another worker owns the run. */
export class RunOwned extends Conflict {}
/** The run is paused until a person resumes it. */
export class RunPaused extends Conflict {}
/** The run has ended. */
export class RunFinished extends Conflict {}
/** The alias belongs to a run with another input. */
export class NameTaken extends Conflict {}
/** Another person decided first; `problem` says who, when and what. */
export class AlreadyResolved extends Conflict {}
/** Another person has claimed the question. */
export class Claimed extends Conflict {}
/** Another interrupt comes first. */
export class Held extends Conflict {}
/** The interrupt changed after it was read. Read it again. */
export class StaleVersion extends Conflict {}
/** The time to answer is over. */
export class Expired extends Conflict {}
/** The key was used for another request. */
export class IdempotencyConflict extends Invalid {}
/** The interrupt does not allow this decision. */
export class DecisionNotAllowed extends Invalid {}
/** The answer may not go there. */
export class RouteNotAllowed extends Invalid {}
/** The server failed in a way that it did not expect. */
export class Internal extends RouterError {}

/** What a model said does not fit the one route that the decision left open. */
export class AnswerRejected extends Invalid {
  /** How many more answers the server takes before it asks a person. */
  get correctionsLeft(): number {
    const left = this.problem['corrections_left'];
    return typeof left === 'number' ? left : 0;
  }
}

/** An error that goes away by itself: the client tries again until its patience ends. */
export class Transient extends RouterError {}
/** Too many requests. */
export class RateLimited extends Transient {}
/** The server cannot be reached, is restarting, or did not answer in time. */
export class Unavailable extends Transient {}

type ErrorClass = new (failure: Failure) => RouterError;

const BY_CODE: { readonly [C in ProblemCode]?: ErrorClass } = {
  'lease-lost': LeaseLost,
  'run-owned': RunOwned,
  'run-paused': RunPaused,
  'run-finished': RunFinished,
  'already-resolved': AlreadyResolved,
  claimed: Claimed,
  held: Held,
  'stale-version': StaleVersion,
  'shown-differs': StaleVersion,
  expired: Expired,
  'answer-rejected': AnswerRejected,
  'name-taken': NameTaken,
  'idempotency-conflict': IdempotencyConflict,
  'decision-not-allowed': DecisionNotAllowed,
  'not-rememberable': DecisionNotAllowed,
  'route-not-allowed': RouteNotAllowed,
};

const BY_STATUS: Readonly<Record<number, ErrorClass>> = {
  401: Unauthenticated,
  403: Forbidden,
  404: NotFound,
  408: Unavailable,
  409: Conflict,
  410: Conflict,
  412: Conflict,
  421: Forbidden,
  429: RateLimited,
  // A proxy whose server is restarting answers 502; 504 says that the work goes on, and the same key finds it.
  502: Unavailable,
  503: Unavailable,
  504: Unavailable,
};

/** The error that a refused request is. */
export function errorOf(status: number, failure: Failure): RouterError {
  const fallback = status >= 500 ? Internal : Invalid;
  const known = BY_CODE[failure.code as ProblemCode] ?? BY_STATUS[status] ?? fallback;
  return new known({ status, ...failure });
}
