import { RouterError } from '../errors.js';
import type { OnWait } from './waiting.js';

/** What gives a token whenever a request is sent. */
export type Token = () => Promise<string>;

/** How to reach a server. */
export interface Settings {
  /** Its address: `http://127.0.0.1:7070`. In Node it is read from IRQ_SERVER where it is absent. */
  readonly server?: string;
  /** A token of `irq token create`, or what gives one. In Node it is read from IRQ_TOKEN where it is absent. */
  readonly token?: string | Token;
  /** How long one request may take, in milliseconds, beside the time that it asks the server to wait: 10,000 by default. */
  readonly timeoutMs?: number;
  /** How long to try again while the server is away or busy, in milliseconds: five minutes by default. */
  readonly patienceMs?: number;
  /** Sends the requests, in place of the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Told what a wait of more than a second is for: a server, a person, another worker. By default it is a warning on the console. */
  readonly onWait?: OnWait;
}

/** Settings with nothing left open. */
export type Effective = Required<Settings>;

const DEFAULTS = { timeoutMs: 10_000, patienceMs: 300_000 };

export function effective(settings: Settings): Effective {
  const server = settings.server ?? environment('IRQ_SERVER');
  const token = settings.token ?? environment('IRQ_TOKEN');
  if (!server) throw missing('server', 'IRQ_SERVER');
  if (!token) throw missing('token', 'IRQ_TOKEN');
  if (!/^https?:\/\/[^/]/.test(server)) throw unusable(server);
  return {
    server: server.replace(/\/+$/, ''),
    token: typeof token === 'string' ? token.trim() : token,
    timeoutMs: settings.timeoutMs ?? DEFAULTS.timeoutMs,
    patienceMs: settings.patienceMs ?? DEFAULTS.patienceMs,
    // A browser's fetch refuses to be called as a method of another object.
    fetch: settings.fetch ?? ((...request) => globalThis.fetch(...request)),
    onWait: settings.onWait ?? ((what) => console.warn(`interrupt-router: ${what}`)),
  };
}

function environment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}

function missing(what: string, variable: string): RouterError {
  return new RouterError({
    code: 'not-configured',
    detail: `no ${what} is given`,
    hint: `pass { ${what} }, or set ${variable} in Node`,
  });
}

function unusable(server: string): RouterError {
  return new RouterError({ code: 'not-configured', detail: `${server} is no address`, hint: 'write it as http://127.0.0.1:7070' });
}
