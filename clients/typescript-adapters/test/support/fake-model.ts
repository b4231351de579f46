import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModel } from 'ai';

/** What the fake model says. */
export type Answer = (response: ServerResponse) => void;

/** What it was asked: the messages of the wire. */
interface Asked {
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
    else answer(response);
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
  return (response) => void event.then(() => answer(response));
}

function completion(message: object, finish_reason: string): Answer {
  const choices = [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }];
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const body = { id: 'chatcmpl-1', object: 'chat.completion', created: 1_764_000_000, model: 'fake', choices, usage };
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
}
