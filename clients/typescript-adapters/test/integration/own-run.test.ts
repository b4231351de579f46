import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { NotFound, Unauthenticated } from 'interrupt-router';
import { generateText, streamText } from '../../src/ai-sdk.js';
import { FakeModel, says } from '../support/fake-model.js';
import { IrqServer } from '../support/irq-server.js';

let server: IrqServer;

before(async () => {
  server = await IrqServer.start();
  const token = await server.token('--role', 'worker', '--workflow', 'ai-sdk');
  Object.assign(process.env, { IRQ_SERVER: server.url, IRQ_TOKEN: token });
});
after(() => server[Symbol.asyncDispose]());

test('each call outside of a run has a run of its own, and the first one has the name that is given', async () => {
  const ann = await server.operator('ann');
  await using fake = await FakeModel.start(says('One.'), says('Two.'), says('Three.'));
  const say = async (): Promise<string> => (await generateText({ model: fake.model, prompt: 'Say it.' })).text;
  process.env['IRQ_RUN'] = 'script';
  assert.deepEqual([await say(), await say()], ['One.', 'Two.']);
  for (const name of ['script', 'script-2']) assert.equal((await ann.run(name)).status, 'completed', name);
  delete process.env['IRQ_RUN'];
  assert.equal(await say(), 'Three.');
  await assert.rejects(ann.run('script-3'), NotFound);
});

test('a stream outside of a run throws what keeps it from making one', async () => {
  await using fake = await FakeModel.start();
  const { IRQ_TOKEN } = process.env;
  process.env['IRQ_TOKEN'] = 'irq_wrong';
  const { textStream } = streamText({ model: fake.model, prompt: 'Say it.' });
  process.env['IRQ_TOKEN'] = IRQ_TOKEN;
  await assert.rejects(async () => {
    for await (const _ of textStream) assert.fail('it says something');
  }, Unauthenticated);
  delete process.env['IRQ_SERVER'];
  delete process.env['IRQ_TOKEN'];
  const { text } = streamText({ model: fake.model, prompt: 'Say it.' });
  await assert.rejects(async () => text, /IRQ_SERVER/);
  Object.assign(process.env, { IRQ_SERVER: server.url, IRQ_TOKEN });
});
