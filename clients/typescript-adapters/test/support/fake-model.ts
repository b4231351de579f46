import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';

/** What the fake model says. */
export type Answer = (response: ServerResponse, asked: Asked) => void;

/** What it was asked: the messages of the wire. */
interface Asked {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: string; readonly tool_call_id?: string }[];
}

/** A server that speaks the wire of OpenAI and says what a test tells it to, one answer after the other. */
export class FakeModel {
  readonly asked: Asked[] = [];
  /** How many requests the client has cut off. */
  cutOff = 0;
  private readonly server = createServer((request, response) => void this.take(request, response));

  private constructor(private readonly answers: Answer[]) {}

  static async start(...answers: Answer[]): Promise<FakeModel> {
    const fake = new FakeModel(answers);
    fake.server.listen(0, '127.0.0.1');
    await once(fake.server, 'listening');
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  get model(): LanguageModel {
    return createOpenAICompatible({ name: 'fake', baseURL: this.url })('fake');
  }

  /** The outputs of tools that it was told with its last request. */
  get read(): string[] {
    return (this.asked.at(-1)?.messages ?? []).filter((it) => it.role === 'tool').map((it) => it.content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of request) text += String(part);
    const answer = this.answers[this.asked.length];
    this.asked.push(JSON.parse(text) as Asked);
    response.once('close', () => (this.cutOff += response.writableEnded ? 0 : 1));
    // The SDK tries again what seems to be a failure of the server.
    if (answer === undefined) response.writeHead(400).end(JSON.stringify({ error: { message: 'the test expects no further request' } }));
    else answer(response, this.asked.at(-1) as Asked);
  }
}

/** The call of a tool. */
export function call(id: string, name: string, input: object): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } };
}

/** It calls tools. */
export function calls(...tool_calls: object[]): Answer {
  return completion({ content: null, tool_calls }, 'tool_calls');
}

/** It ends. */
export function says(content: string): Answer {
  return completion({ content }, 'stop');
}

/** It never answers. */
export const silent: Answer = () => undefined;

/** It answers once something has happened. */
export function after(event: Promise<unknown>, answer: Answer): Answer {
  return (response, asked) => void event.then(() => answer(response, asked));
}

/** It ends, a piece at a time, and waits where the test says so. */
export function writes(...pieces: (string | Promise<unknown>)[]): Answer {
  return async (response) => {
    for (const piece of pieces) {
      if (typeof piece === 'string') send(response, { delta: { content: piece } });
      else await piece;
    }
    send(response, { delta: {}, finish_reason: 'stop' });
    response.end('data: [DONE]\n\n');
  };
}

/** Its connection breaks after some text and the calls of tools. */
export function breaks(...pieces: (string | object)[]): Answer {
  return (response) => {
    for (const it of pieces) send(response, { delta: typeof it === 'string' ? { content: it } : { tool_calls: [{ index: 0, ...it }] } });
    setTimeout(() => response.destroy(), 50);
  };
}

const META = { id: 'chatcmpl-1', created: 1_764_000_000, model: 'fake' };
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function completion(message: { content: string | null; tool_calls?: object[] }, finish_reason: string): Answer {
  return (response, { stream }) => {
    if (stream) {
      const { content, tool_calls = [] } = message;
      for (const word of content?.match(/\S+\s*/g) ?? []) send(response, { delta: { content: word } });
      tool_calls.forEach((it, index) => send(response, { delta: { tool_calls: [{ index, ...it }] } }));
      send(response, { delta: {}, finish_reason });
      response.end('data: [DONE]\n\n');
      return;
    }
    const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }];
    const body = { ...META, object: 'chat.completion', choices, usage: USAGE };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}

/** Sends a chunk of an answer that is streamed. The last one says what it cost. */
function send(response: ServerResponse, choice: { readonly delta: object; readonly finish_reason?: string }): void {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
  const usage = choice.finish_reason !== undefined && { usage: USAGE };
  const chunk = { ...META, object: 'chat.completion.chunk', choices: [{ index: 0, ...choice }], ...usage };
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}
