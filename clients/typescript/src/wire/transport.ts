import { RouterError, Transient, Unavailable } from '../errors.js';
import { Backoff } from './backoff.js';
import { camelize, snakify, toSnake } from './case.js';
import { Deadline } from './deadline.js';
import { randomId } from './random-id.js';
import { refusal } from './refusal.js';
import type { Effective } from './settings.js';
import { sleep } from './sleep.js';
import { SOON_MS } from './waiting.js';

/** Parameters of an address, whose names are changed to those of the wire; what is undefined is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** A request to the server. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Query;
  /** The names of its members are changed to those of the wire. */
  readonly body?: unknown;
  /** A body whose names stay as they are. */
  readonly rawBody?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the server may wait for news before it answers. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** What the server answered. */
export interface Reply<T> {
  readonly status: number;
  readonly body: T;
}

/** Sends requests, and sends them again where that is safe and may help. */
export class Transport {
  constructor(readonly settings: Effective) {}

  /** The body of the answer. */
  async body<T>(call: Call): Promise<T> {
    return (await this.send<T>(call)).body;
  }

  /**
   * Sends a request until it is answered, for as long as the patience lasts. A request may be sent twice: GET, PUT and DELETE do no
   * more the second time, and POST carries a key by which the server knows it.
   */
  async send<T>(call: Call): Promise<Reply<T>> {
    const request = this.prepare(call);
    const backoff = new Backoff();
    const begun = performance.now();
    const { patienceMs, onWait } = this.settings;
    let waitingSince: number | undefined;
    let isTold = false;
    for (;;) {
      try {
        return await this.attempt<T>(call, request);
      } catch (error) {
        if (!(error instanceof Transient)) throw error;
        const pause = Math.max(backoff.next(), error.retryAfterMs ?? 0);
        const now = performance.now();
        const patience = begun + patienceMs - now;
        if (pause > patience) throw error;
        // What the server was asked to wait is no wait for the server. Said before the pause, which may be the last one.
        waitingSince ??= call.waitMs ? now : begun;
        if (!isTold && now + pause > waitingSince + SOON_MS) {
          onWait(`${error.detail}; trying again for ${Math.round(patience / 1_000)} s`);
          isTold = true;
        }
        await sleep(pause, call.signal);
      }
    }
  }

  /** Opens a stream that the caller reads; tries once. */
  open(call: Call, signal: AbortSignal): Promise<Response> {
    return this.exchange(call, { ...this.prepare(call), signal });
  }

  /** What stays the same over all tries. A body that JSON cannot hold fails here, once. */
  private prepare(call: Call): RequestInit {
    const body = call.rawBody ?? snakify(call.body);
    const headers = new Headers({
      ...(call.method === 'POST' && { 'idempotency-key': randomId() }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...call.headers,
    });
    return { method: call.method, headers, redirect: 'manual', ...(body !== undefined && { body: JSON.stringify(body) }) };
  }

  private async attempt<T>(call: Call, request: RequestInit): Promise<Reply<T>> {
    const deadline = new Deadline(this.settings.timeoutMs + (call.waitMs ?? 0), call.signal);
    try {
      const response = await this.exchange(call, { ...request, signal: deadline.signal });
      return { status: response.status, body: bodyOf(await response.text()) as T };
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (error instanceof RouterError) throw error;
      throw unreachable(this.settings.server, deadline.isOver, error);
    } finally {
      deadline.dispose();
    }
  }

  private async exchange(call: Call, request: RequestInit): Promise<Response> {
    const { token } = this.settings;
    (request.headers as Headers).set('authorization', `Bearer ${typeof token === 'string' ? token : await token()}`);
    const response = await this.settings.fetch(`${this.settings.server}${call.path}${search(call)}`, request);
    if (!response.ok) throw await refusal(response);
    return response;
  }
}

function bodyOf(text: string): unknown {
  if (text === '') return null;
  try {
    return camelize(JSON.parse(text));
  } catch (cause) {
    const hint = 'check the address: this is no Interrupt Router';
    throw new RouterError({ code: 'not-json', detail: 'the answer is not JSON', hint, cause });
  }
}

function search(call: Call): string {
  const given = Object.entries({ ...call.query, waitMs: call.waitMs }).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([key, value]) => [toSnake(key), String(value)]))}`;
}

/** Connections that are refused, reset, cut off within a body or silent: all of them may work the next time. */
function unreachable(server: string, isLate: boolean, cause: unknown): Unavailable {
  const hint = 'start it with `irq serve`, or check the address';
  if (isLate) return new Unavailable({ code: 'timed-out', detail: `${server} did not answer in time`, hint, cause });
  return new Unavailable({ code: 'unreachable', detail: `${server} cannot be reached`, hint, cause });
}
