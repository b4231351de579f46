import { AsyncLocalStorage } from 'node:async_hooks';
import type { Effect, Handler, KindOf, Run, Workflow } from 'interrupt-router';
import { keyOf } from './keys.js';

/** What to do where a worker died while it executed a tool, so that it may have happened or not. */
export interface ToolEffect {
  /** A second time does no harm: execute it again. So it is with a tool that only reads, or that calls another agent. */
  readonly repeatable?: boolean;
  /** Finds out. It gives the output, or `undefined` where it did not happen; only then the tool is executed. */
  readonly lookup?: (input: any, effect: Effect) => unknown;
}

/** How the calls of a run ask people and execute tools. Keep it the same for a run. */
export interface DurableOptions<K extends string = string> {
  /** Which kind of agent asks for the approval of a tool. Without one, the run's own agent asks. */
  readonly kinds?: Readonly<Record<string, K>>;
  /** What to do about a tool whose worker died while it was executed. Without it, the call throws `EffectUnknown`. */
  readonly effects?: Readonly<Record<string, ToolEffect>>;
}

/** A place in the code of a run. Code that runs again passes the same places in the same order, which names what happens there. */
export class Place {
  private calls = 0;
  private readonly slots = new Map<string, Place>();

  constructor(
    readonly run: Run,
    readonly options: DurableOptions,
    private readonly name: string,
  ) {}

  /** The name of the next call of a model with tools. */
  nextCall(): string {
    return `${this.name}:${++this.calls}`;
  }

  /** The place of this name. Entered again, it goes on where it was. */
  slot(name: string): Place {
    const known = this.slots.get(name) ?? this.within(keyOf(this.name, 'slot', name));
    this.slots.set(name, known);
    return known;
  }

  /** A place within this one: what a tool calls does not count among the calls of the code around it. */
  within(name: string): Place {
    return new Place(this.run, this.options, name);
  }
}

const places = new AsyncLocalStorage<Place>();

/** Where this code runs; `undefined` outside of a run. */
export function currentPlace(): Place | undefined {
  return places.getStore();
}

/** Runs code at a place. */
export function at<T>(place: Place, code: () => T): T {
  return places.run(place, code);
}

/**
 * Code whose calls have a name of their own in the run, instead of the next number. Calls that run at the same time need one: whichever comes
 * first the next time, each finds what it had.
 */
export function slot<T>(name: string, code: () => T): T {
  const place = currentPlace();
  return place === undefined ? code() : at(place.slot(name), code);
}

/** Code of a run whose agents of the AI SDK are durable: hand it to `Router.run` or `Router.work`. */
export function durable<W extends Workflow, I, T>(handler: Handler<W, I, T>, options: DurableOptions<KindOf<W>> = {}): Handler<W, I, T> {
  return (run) => at(new Place(run as unknown as Run, options, 'ai'), () => handler(run));
}
