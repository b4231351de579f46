import { RouterError, Transient } from '../errors.js';
import type { JsonObject } from '../json.js';
import type * as api from '../wire/api.js';
import { Backoff } from '../wire/backoff.js';
import { Deadline } from '../wire/deadline.js';
import { sleep } from '../wire/sleep.js';
import { SseParser } from '../wire/sse.js';
import type { Transport } from '../wire/transport.js';

/** What happened, as a CloudEvent. The names in `data` are those of the server. */
export interface FeedEvent {
  /** Its position in the feed: go on after it with `after`. */
  readonly id: string;
  /** `dev.irq.interrupt.resolved.v1` */
  readonly type: string;
  readonly source: string;
  readonly subject?: string;
  readonly time: string;
  readonly data: JsonObject;
}

/** Which events to follow, and from where. */
export interface FeedOptions extends Pick<api.FeedQuery, 'runId' | 'agentId'> {
  /** The id of the last event that was read; `'0'` begins with the oldest. From now on where it is absent. */
  readonly after?: string;
  /** Patterns of names: `['interrupt.*', 'run.completed']`. */
  readonly topics?: readonly string[];
  /** Ends the feed; iterating it then returns. */
  readonly signal?: AbortSignal;
}

/** The server sends a sign of life every few seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 60_000;

/**
 * The feed of the server, in order and without gaps: a connection that breaks is opened again after the last event. The feed of one
 * run ends with the run.
 */
export class Feed implements AsyncIterable<FeedEvent> {
  private position: string | undefined;

  constructor(
    private readonly transport: Transport,
    private readonly options: FeedOptions = {},
  ) {
    this.position = options.after;
  }

  /** The id of the last event that was read. */
  get cursor(): string | undefined {
    return this.position;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FeedEvent, void, undefined> {
    const { signal } = this.options;
    const { patienceMs } = this.transport.settings;
    const backoff = new Backoff();
    let lastSuccess = performance.now();
    const alive = (): void => {
      backoff.reset();
      lastSuccess = performance.now();
    };
    try {
      // Events that come before the first connection breaks must not be missed, even if there was none yet.
      this.position ??= (await this.transport.body<api.WhoAmI>({ method: 'GET', path: '/v1/whoami', signal })).seq;
      for (;;) {
        let atLeast = 0;
        try {
          if ((yield* this.connection(alive)) === 'over') return;
        } catch (error) {
          if (!isTemporary(error) || performance.now() - lastSuccess > patienceMs) throw error;
          if (error instanceof Transient) atLeast = error.retryAfterMs ?? 0;
        }
        await sleep(Math.max(backoff.next(), atLeast), signal);
      }
    } catch (error) {
      if (!signal?.aborted) throw error;
    }
  }

  /** Reads one connection to its end. A server that restarts ends it; `over` says that the run has ended and all of it was read. */
  private async *connection(alive: () => void): AsyncGenerator<FeedEvent, 'over' | 'again', undefined> {
    const { signal, topics, runId, agentId } = this.options;
    const deadline = new Deadline(this.transport.settings.timeoutMs, signal);
    try {
      const query = { topics: topics?.join(','), runId, agentId, afterSeq: this.position } satisfies api.FeedQuery;
      const response = await this.transport.open({ method: 'GET', path: '/v1/events', query }, deadline.signal);
      if (response.status === 204 || response.body === null) return 'over';
      const parser = new SseParser();
      const reader = response.body.getReader();
      for (;;) {
        deadline.restart(SILENCE_MS);
        const { done, value } = await reader.read();
        if (done) return 'again';
        alive();
        for (const { id, data } of parser.push(value)) {
          const event = JSON.parse(data) as FeedEvent;
          this.position = id ?? event.id;
          yield event;
        }
      }
    } finally {
      // Leaving the loop over the feed closes its connection.
      deadline.abort();
    }
  }
}

/** What is no problem of the server is a connection that broke. */
function isTemporary(error: unknown): boolean {
  return error instanceof Transient || !(error instanceof RouterError || error instanceof SyntaxError);
}
