import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { streamText, tool } from 'ai';
import { MockLanguageModelV4, simulateReadableStream } from 'ai/test';
import { z } from 'zod';
import { durableModel } from '../../src/model.js';

const FINISH = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: {
    inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 4, text: 4, reasoning: undefined },
  },
} as const;

test('what is kept of an answer that was streamed is one JSON text without the wire, and streams like the answer', async () => {
  const model = new MockLanguageModelV4({
    doStream: async () => ({
      stream: simulateReadableStream({
        chunks: [
          { type: 'stream-start', warnings: [] },
          { type: 'response-metadata', id: 'r-1', timestamp: new Date(1_764_000_000_000), modelId: 'mock' },
          { type: 'raw', rawValue: 'secret' },
          { type: 'text-start', id: '1' },
          ...['Look', ' at', ' it:'].map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
          { type: 'text-end', id: '1' },
          { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
          FINISH,
        ],
      }),
      request: { body: 'a question' },
      response: { headers: { cookie: 'secret' } },
    }),
  });
  let kept = '';
  const keep = async (call: () => Promise<unknown>): Promise<unknown> => {
    kept ||= JSON.stringify(await call());
    return JSON.parse(kept) as unknown;
  };
  const pieces: string[][] = [];
  for (const which of ['first', 'again']) {
    const result = streamText({ model: durableModel(model, keep), prompt: 'A picture?' });
    const texts: string[] = [];
    for await (const text of result.textStream) texts.push(text);
    pieces.push(texts);
    const { text, files, usage, response } = await result.finalStep;
    assert.deepEqual([text, [...(files[0]?.uint8Array ?? [])], usage.totalTokens], ['Look at it:', [1, 2, 3], 7], which);
    assert.deepEqual([response.id, response.timestamp], ['r-1', new Date(1_764_000_000_000)], which);
  }
  assert.deepEqual(pieces, [['Look', ' at', ' it:'], ['Look at it:']]);
  assert.equal(model.doStreamCalls.length, 1);
  assert.doesNotMatch(kept, /secret|a question/);
});

test('an answer is passed on as it arrives, and its end, with which the SDK executes tools, once it is kept', async () => {
  const call = { type: 'tool-call', toolCallId: 'call-1', toolName: 'pay', input: '{}' } as const;
  const model = new MockLanguageModelV4({ doStream: async () => ({ stream: simulateReadableStream({ chunks: [call, FINISH] }) }) });
  let whole = (): void => undefined;
  let keepIt = (): void => undefined;
  const isWhole = new Promise<void>((resolve) => (whole = resolve));
  const isKept = new Promise<void>((resolve) => (keepIt = resolve));
  const durable = durableModel(model, async (call) => {
    const answer = await call();
    whole();
    await isKept;
    return answer;
  });
  let paid = 0;
  const pay = tool({ inputSchema: z.object({}), execute: () => (paid += 1) });
  const result = streamText({ model: durable, prompt: 'Pay.', tools: { pay } });
  const types: string[] = [];
  const reading = (async () => {
    for await (const { type } of result.stream) types.push(type);
  })();
  await isWhole;
  await sleep(20);
  assert.deepEqual([types, paid], [['start', 'start-step', 'tool-call'], 0]);
  keepIt();
  await reading;
  assert.deepEqual([types.slice(3), paid], [['tool-result', 'finish-step', 'finish'], 1]);
});
