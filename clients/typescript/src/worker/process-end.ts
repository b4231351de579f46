import { SOON_MS } from '../wire/waiting.js';
import { Released } from './halt.js';

/** What of Node is used here; a browser has none of it. */
interface Process {
  readonly pid: number;
  prependListener(name: string, listener: (name: string) => void): unknown;
  off(name: string, listener: (name: string) => void): unknown;
  listenerCount(name: string): number;
  kill(pid: number, name: string): unknown;
}

/** The stop of a container, and Ctrl+C. */
const NAMES = ['SIGTERM', 'SIGINT'];

const underWay = new Set<AbortController>();
let timer: ReturnType<typeof setTimeout> | undefined;
/** What told the process to end, and whether it is left to us to end it. */
let told: { readonly name: string; readonly isOurs: boolean } | undefined;

/**
 * Does work that lets its runs go when the process is told to end, unless the application gives a signal of its own. Once all such work
 * has ended, the process ends by what told it to, unless the application listens itself. A second signal ends it at once.
 */
export async function untilProcessEnds<T>(given: AbortSignal | undefined, work: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
  const { process } = globalThis as { process?: Partial<Process> };
  if (given !== undefined || typeof process?.prependListener !== 'function') return work(given);
  const node = process as Process;
  const ending = new AbortController();
  if (told !== undefined) ending.abort(new Released());
  else if (underWay.size === 0) for (const name of NAMES) node.prependListener(name, tell);
  underWay.add(ending);
  try {
    return await work(ending.signal);
  } finally {
    underWay.delete(ending);
    if (underWay.size === 0) end(node);
  }
}

function tell(name: string): void {
  const node = (globalThis as unknown as { process: Process }).process;
  told = { name, isOurs: node.listenerCount(name) === 1 };
  ignore(node);
  for (const ending of underWay) ending.abort(new Released());
  const warn = (): void => console.warn(`interrupt-router: effects under way end first; a second ${name} ends the process at once`);
  timer = setTimeout(warn, SOON_MS);
}

function end(node: Process): void {
  ignore(node);
  clearTimeout(timer);
  const by = told;
  told = undefined;
  if (by?.isOurs) node.kill(node.pid, by.name);
}

function ignore(node: Process): void {
  for (const name of NAMES) node.off(name, tell);
}
