import { Invalid, RouterError } from '../errors.js';
import { isObject, wholeJson } from '../json.js';
import type * as api from '../wire/api.js';
import { path } from '../wire/path.js';
import { randomId } from '../wire/random-id.js';
import type { AgentContext } from './context.js';
import { EffectUnkept, EffectUnknown } from './halt.js';

/** An effect that is done now. */
export interface Effect {
  /** The same in every worker that ever does it: hand it to other systems as their idempotency key. */
  readonly id: string;
  /** Fires when the work has to end at once. A graceful stop lets the effect finish. */
  readonly signal: AbortSignal;
}

/** What to do where a worker began the effect and died, so that it may have happened or not. */
export interface EffectOptions<T> {
  /** What it is done with, as JSON. With it the key stands for these arguments alone: with others it throws `IdempotencyConflict`. */
  readonly arguments?: unknown;
  /** A second time does no harm: do it again. */
  readonly repeatable?: boolean;
  /** Finds out. It gives the result, or `undefined` where it did not happen; only then it is done. */
  readonly lookup?: (effect: Effect) => T | undefined | Promise<T | undefined>;
}

/** The one member of what stands for a result that could not be kept. All clients know it. */
const UNKEPT = '$unkept';
const MOST_WORDS = 500;

/** Does something once, whatever crashes, and gives what JSON keeps of its result. */
export async function perform<T>(
  { agentId, owned, halting }: AgentContext,
  key: string,
  work: (effect: Effect) => T | Promise<T>,
  { repeatable = false, lookup, arguments: given }: EffectOptions<T>,
): Promise<T> {
  const below = path`/effects/${key}`;
  // The attempt tells this call, whose first answer may get lost, from that of a worker that died. No stop may cut it off: the effect
  // would be begun, and nothing would know that it never happened.
  const body = { agentId, repeatable, attempt: randomId(), arguments: given } satisfies api.EffectBody;
  const begun = await owned.write<api.EffectView>('PUT', below, { body });
  const { state } = begun;
  if (state === 'finished') return keptBefore(key, begun.result) as T;
  if (state === 'unknown' && lookup === undefined) throw new EffectUnknown(key);
  const effect = { id: `${owned.view.runId}:${key}`, signal: halting.immediate };
  const found = state === 'unknown' ? await lookup?.(effect) : undefined;
  const result = found === undefined ? await work(effect) : found;
  // From here on it has happened, whatever its result is like.
  const keep = (kept: unknown): Promise<unknown> => owned.write('PUT', `${below}/result`, { body: { result: kept } satisfies api.ResultBody });
  try {
    // The first caller gets what a later worker reads.
    const kept = wholeJson(result);
    await keep(kept);
    return kept as T;
  } catch (cause) {
    if (cause instanceof RouterError && !(cause instanceof Invalid)) throw cause;
    const words = cause instanceof RouterError ? cause.detail : cause instanceof Error ? cause.message : String(cause);
    const what = words.slice(0, MOST_WORDS).replace(/\p{Surrogate}/gu, '\ufffd');
    await keep({ [UNKEPT]: what });
    throw new EffectUnkept(key, what, cause);
  }
}

/** The result that an earlier worker has kept. */
function keptBefore(key: string, result: unknown): unknown {
  const what = isObject(result) && Object.keys(result).length === 1 ? result[UNKEPT] : undefined;
  if (typeof what === 'string') throw new EffectUnkept(key, what);
  return result;
}
