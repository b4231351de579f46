import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generateText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { durableModel } from '../../src/model.js';

test('what is kept of an answer is JSON without the wire, and reads like the answer', async () => {
  const model = new MockLanguageModelV4({
    doGenerate: async () => ({
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      ],
      finishReason: { unified: 'stop', raw: 'stop' },
      usage: {
        inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 4, text: 4, reasoning: undefined },
      },
      warnings: [],
      request: { body: 'a question' },
      response: { id: 'r-1', timestamp: new Date(1_764_000_000_000), modelId: 'mock', headers: { cookie: 'secret' }, body: 'large' },
    }),
  });
  let kept = '';
  const keep = async (call: () => Promise<unknown>): Promise<unknown> => {
    kept ||= JSON.stringify(await call());
    return JSON.parse(kept) as unknown;
  };
  for (const which of ['first', 'again']) {
    const { text, files, usage, response } = await generateText({ model: durableModel(model, keep), prompt: 'A picture?' });
    assert.deepEqual([text, [...(files[0]?.uint8Array ?? [])], usage.totalTokens], ['Look:', [1, 2, 3], 7], which);
    assert.deepEqual([response.id, response.timestamp], ['r-1', new Date(1_764_000_000_000)], which);
  }
  assert.equal(model.doGenerateCalls.length, 1);
  assert.doesNotMatch(kept, /secret|large|a question/);
});

test('the name of a model is one of the default provider', async () => {
  const model = new MockLanguageModelV4({ modelId: 'named' });
  globalThis.AI_SDK_DEFAULT_PROVIDER = { specificationVersion: 'v4', languageModel: (id: string) => (assert.equal(id, 'a/b'), model) } as never;
  try {
    const durable = durableModel('a/b', (call) => call());
    assert.equal(typeof durable === 'string' ? durable : durable.modelId, 'named');
  } finally {
    globalThis.AI_SDK_DEFAULT_PROVIDER = undefined;
  }
});
