import { RouterError } from '../errors.js';
import type { Stop } from './views.js';

/** A person, a limit or the system stops the run, or one agent of it. Let it pass: the server tells people once the work has ended. */
export class Stopped extends RouterError {
  constructor(readonly stop: Stop) {
    const whom = concernsAgentAlone(stop) ? `the agent ${stop.agentId}` : 'the run';
    super({ code: 'stopped', detail: `${whom} was told to stop (${stop.type}): ${stop.reason}` });
  }
}

/** Whether the run goes on without the agent. A pause of one agent is one of the run. */
export function concernsAgentAlone(stop: Stop): boolean {
  return stop.scope === 'agent' && (stop.type === 'PRUNE' || stop.type === 'STOP');
}

/** The worker lets the run go, because it ends itself. Another worker goes on with the run. Let it pass. */
export class Released extends RouterError {
  constructor() {
    super({ code: 'released', detail: 'the worker ends; another one goes on with the run' });
  }
}

/**
 * The run has waited for a person for longer than it is worth to keep it in memory. Let it pass: a worker takes the run again once
 * its questions are answered.
 */
export class Parked extends RouterError {
  constructor(readonly key: string) {
    super({ code: 'parked', detail: `the run rests until the question ${key} is answered` });
  }
}

/** The code ends the run as cancelled. `Run.cancel` throws it. */
export class Cancelled extends RouterError {
  constructor(reason: string) {
    super({ code: 'cancelled', detail: reason });
  }
}

/**
 * A worker began something and died before it said what came of it. It may have happened. Look, and find out with `lookup`, or pass
 * `repeatable` where a second time does no harm.
 */
export class EffectUnknown extends RouterError {
  constructor(readonly key: string) {
    const detail = `whether the effect ${key} happened is unknown: the worker that began it died`;
    const hint = 'pass `lookup` to find out whether it happened, or `repeatable` where a second time does no harm';
    super({ code: 'effect-unknown', detail, hint });
  }
}

/**
 * An effect has happened, once, but its result cannot be kept: JSON or the server does not hold it. It counts as finished, and each worker
 * gets this error in place of the result.
 */
export class EffectUnkept extends RouterError {
  constructor(
    readonly key: string,
    /** What could not be kept. */
    readonly what: string,
    cause?: unknown,
  ) {
    const detail = `the effect ${key} has happened, but its result cannot be kept: ${what}`;
    const hint = 'return what JSON can hold: texts, finite numbers below 2^64, true, false, null, lists and objects of them';
    super({ code: 'effect-unkept', detail, hint, cause });
  }
}

/** A person was asked to fill in the request after the model had failed, and gave none. */
export class Unfilled extends RouterError {
  constructor(readonly key: string, said?: string | null) {
    super({ code: 'unfilled', detail: `the person who was asked to fill in the request of ${key} gave none${said ? `: ${said}` : ''}` });
  }
}
