import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that a fake server got. */
export interface Got {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

type Answer = (response: ServerResponse, got: Got) => void;

/** A server whose answers a test says in advance: one after the other, the last one for all that follow. */
export class FakeServer {
  readonly got: Got[] = [];
  private readonly server = createServer((request, response) => void this.take(request, response));

  private constructor(private readonly answers: Answer[]) {}

  static async start(...answers: Answer[]): Promise<FakeServer> {
    const fake = new FakeServer(answers);
    fake.server.listen(0, '127.0.0.1');
    await once(fake.server, 'listening');
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of request) text += String(part);
    const got = { method: request.method ?? '', url: new URL(request.url ?? '', this.url), headers: request.headers, text };
    const answer = this.answers[Math.min(this.got.length, this.answers.length - 1)];
    this.got.push(got);
    answer?.(response, got);
  }
}

/** Answers with JSON. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

/** Refuses with a problem document. */
export function problem(status: number, code: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}): Answer {
  return json(status, { type: `/problems/${code}`, status, title: code, detail: `it is ${code}`, code, hint: 'a hint', ...more }, headers);
}

/** Closes the connection without an answer. */
export const cut: Answer = (response) => {
  response.destroy();
};

/** Never answers. */
export const silent: Answer = () => undefined;
