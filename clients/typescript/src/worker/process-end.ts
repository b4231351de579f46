import { SOON_MS } from '../wire/waiting.js';
import { Released } from './halt.js';

/** The stop of a container, and Ctrl+C. */
const NAMES: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

const underWay = new Set<AbortController>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** What told the process to end, and whether it is left to us to end it. */
let told: { readonly name: NodeJS.Signals; readonly isOurs: boolean } | undefined;

/**
 * Does work that lets its runs go when the process is told to end, unless the application gives a signal of its own. Once all such work
 * has ended, the process ends by what told it to, unless the application listens itself. A second signal ends it at once.
 */
export async function untilProcessEnds<T>(given: AbortSignal | undefined, work: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
  // A browser has no process, or one that does nothing.
  if (given !== undefined || typeof globalThis.process?.prependListener !== 'function') return work(given);
  const ending = new AbortController();
  if (told !== undefined) ending.abort(new Released());
  else if (underWay.size === 0) for (const name of NAMES) process.prependListener(name, tell);
  underWay.add(ending);
  try {
    return await work(ending.signal);
  } finally {
    underWay.delete(ending);
    if (underWay.size === 0) end();
  }
}

function tell(name: NodeJS.Signals): void {
  told = { name, isOurs: process.listenerCount(name) === 1 };
  ignore();
  for (const ending of underWay) ending.abort(new Released());
  const warn = (): void => console.warn(`interrupt-router: effects under way end first; a second ${name} ends the process at once`);
  timer = setTimeout(warn, SOON_MS);
}

function end(): void {
  ignore();
  clearTimeout(timer);
  const by = told;
  told = undefined;
  if (by?.isOurs) process.kill(process.pid, by.name);
}

function ignore(): void {
  for (const name of NAMES) process.off(name, tell);
}
