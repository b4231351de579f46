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

export function effective(settings: Settings): Effective {
  // A browser has none.
  const { env } = globalThis.process ?? {};
  const { server = env?.['IRQ_SERVER'], token = env?.['IRQ_TOKEN'], timeoutMs = 10_000, patienceMs = 300_000 } = settings;
  if (!server) throw unusable('no server is given', 'pass { server }, or set IRQ_SERVER in Node');
  if (!token) throw unusable('no token is given', 'pass { token }, or set IRQ_TOKEN in Node');
  if (!/^https?:\/\/[^/]/.test(server)) throw unusable(`${server} is no address`, 'write it as http://127.0.0.1:7070');
  return {
    server: server.replace(/\/+$/, ''),
    token: typeof token === 'string' ? token.trim() : token,
    timeoutMs,
    patienceMs,
    // A browser's fetch refuses to be called as a method of another object.
    fetch: settings.fetch ?? ((...request) => globalThis.fetch(...request)),
    onWait: settings.onWait ?? ((what) => console.warn(`interrupt-router: ${what}`)),
  };
}

function unusable(detail: string, hint: string): RouterError {
  return new RouterError({ code: 'not-configured', detail, hint });
}
