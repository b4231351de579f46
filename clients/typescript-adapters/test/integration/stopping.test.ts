import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Held, type Operator, type Router, RunPaused, StaleVersion, Stopped } from 'interrupt-router';
import { z } from 'zod';
import { durable, generateText, isStepCount, streamText, tool } from '../../src/ai-sdk.js';
import { eventually } from '../../../typescript/test/support/eventually.js';
import { FakeModel, after as once, call, calls, says, silent, writes } from '../support/fake-model.js';
import { IrqServer } from '../support/irq-server.js';
import { allQuestions, desk, openQuestion } from '../support/people.js';

let server: IrqServer;
let router: Router;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  router = await server.router(desk);
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

const LOOK = call('call-0', 'lookUp', { order: 17 });

/** Both ways to call a model. A stream is read to its end. */
type Way = 'generateText' | 'streamText';
const WAYS: readonly Way[] = ['generateText', 'streamText'];

function textOf(way: Way, settings: Parameters<typeof generateText>[0]): PromiseLike<string> {
  return way === 'streamText' ? streamText(settings as Parameters<typeof streamText>[0]).text : generateText(settings).then((it) => it.text);
}

/** An agent with a tool, which also says when the run is told to stop. */
function settle(way: Way, alias: string, fake: FakeModel, execute: (order: number, told: AbortSignal) => unknown, approve = false): Promise<string> {
  const code = durable<typeof desk, null, string>(async (run) => {
    const lookUp = tool({ inputSchema: z.object({ order: z.number() }), execute: ({ order }) => execute(order, run.signal) });
    const toolApproval = { lookUp: approve ? 'user-approval' : 'not-applicable' } as const;
    return textOf(way, { model: fake.model, tools: { lookUp }, toolApproval, stopWhen: isStepCount(5), prompt: 'Settle it.' });
  });
  return router.run(desk, { alias, input: null }, code);
}

async function stop(alias: string, mode: 'graceful' | 'immediate'): Promise<void> {
  const { runId } = await ann.run(alias);
  await ann.stop(`${runId}/root`, { scope: 'run', mode, reason: 'lunch' });
}

/** Works again once the resumed run can be taken. */
async function resume(alias: string, work: () => Promise<string>): Promise<string> {
  await ann.resume(alias);
  return eventually(() => work().catch((error) => !(error instanceof RunPaused) && Promise.reject(error)), `${alias} is resumed`);
}

/** Fires when a signal does. */
function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

for (const way of WAYS) {
  test(`${way}: an immediate stop aborts the call of the model`, async () => {
    await using fake = await FakeModel.start(silent, says('Done.'));
    const work = (): Promise<string> => settle(way, `cut-${way}`, fake, () => assert.fail('it was executed'));
    const working = work();
    working.catch(() => undefined);
    await eventually(() => fake.asked.length === 1, 'the model is asked');
    await stop(`cut-${way}`, 'immediate');
    await eventually(() => fake.cutOff === 1, 'the request is cut off');
    await assert.rejects(working, (error) => error instanceof Stopped && error.stop.reason === 'lunch');
    assert.equal((await ann.run(`cut-${way}`)).status, 'paused');
    assert.equal(await resume(`cut-${way}`, work), 'Done.');
    assert.deepEqual([fake.asked.length, fake.cutOff], [2, 1]);
  });

  test(`${way}: a graceful stop lets the model answer, and nothing more happens until the run is resumed`, async () => {
    let tell = (): void => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    await using fake = await FakeModel.start(once(told, calls(LOOK)), says('Done.'));
    const executed: number[] = [];
    const code = durable<typeof desk, null, string>(async (run) => {
      void fired(run.signal).then(tell);
      const lookUp = tool({ inputSchema: z.object({ order: z.number() }), execute: ({ order }) => executed.push(order) });
      return textOf(way, { model: fake.model, tools: { lookUp }, stopWhen: isStepCount(5), prompt: 'Settle it.' });
    });
    const work = (): Promise<string> => router.run(desk, { alias: `graceful-${way}`, input: null }, code);
    const working = work();
    working.catch(() => undefined);
    await eventually(() => fake.asked.length === 1, 'the model is asked');
    await stop(`graceful-${way}`, 'graceful');
    await assert.rejects(working, Stopped);
    assert.deepEqual([executed, fake.asked.length, fake.cutOff], [[], 1, 0]);
    assert.equal((await ann.run(`graceful-${way}`)).status, 'paused');
    // The answer that it gave is kept, so it is not asked for that again.
    assert.equal(await resume(`graceful-${way}`, work), 'Done.');
    assert.deepEqual([executed, fake.asked.length], [[17], 2]);
  });

  test(`${way}: a stop while a tool is executed ends the run, and is no output of the tool`, async () => {
    await using fake = await FakeModel.start(calls(LOOK), says('Done.'));
    let executions = 0;
    const work = (): Promise<string> =>
      settle(way, `tool-${way}`, fake, async (_, told) => {
        executions += 1;
        await fired(told);
        return 'it is broken';
      });
    const working = work();
    working.catch(() => undefined);
    await eventually(() => executions === 1, 'the tool is executed');
    await stop(`tool-${way}`, 'graceful');
    await assert.rejects(working, Stopped);
    assert.equal(fake.asked.length, 1);
    assert.equal(await resume(`tool-${way}`, work), 'Done.');
    assert.deepEqual([executions, fake.read], [1, ['it is broken']]);
  });

  test(`${way}: an immediate stop cuts a tool off, and that is no output of the tool`, async () => {
    await using fake = await FakeModel.start(calls(LOOK), says('Done.'));
    let executions = 0;
    const lookUp = tool({
      inputSchema: z.object({ order: z.number() }),
      execute: async (_, { abortSignal }) => {
        if (++executions > 1) return 'it is broken';
        await fired(abortSignal as AbortSignal);
        throw new Error('it was cut off');
      },
    });
    const code = durable<typeof desk, null, string>(
      async () => textOf(way, { model: fake.model, tools: { lookUp }, stopWhen: isStepCount(5), prompt: 'Settle it.' }),
      { effects: { lookUp: { repeatable: true } } },
    );
    const work = (): Promise<string> => router.run(desk, { alias: `tool-cut-${way}`, input: null }, code);
    const working = work();
    working.catch(() => undefined);
    await eventually(() => executions === 1, 'the tool is executed');
    await stop(`tool-cut-${way}`, 'immediate');
    await assert.rejects(working, Stopped);
    assert.equal(await resume(`tool-cut-${way}`, work), 'Done.');
    assert.deepEqual([executions, fake.asked.length, fake.read], [2, 2, ['it is broken']]);
  });

  test(`${way}: a stop wakes an agent that waits for an approval, and the same question is there when it goes on`, async () => {
    await using fake = await FakeModel.start(calls(LOOK), says('Done.'));
    const work = (): Promise<string> => settle(way, `waiting-${way}`, fake, () => 'it is broken', true);
    const working = work();
    working.catch(() => undefined);
    const question = await openQuestion(ann, `waiting-${way}`);
    await stop(`waiting-${way}`, 'graceful');
    await assert.rejects(working, Stopped);
    const resumed = resume(`waiting-${way}`, work);
    const decided = await eventually(async () => {
      const again = await openQuestion(ann, `waiting-${way}`);
      // Until the run goes on, its stop holds the question; then the question has a new version.
      const isEarly = (error: unknown): boolean => error instanceof Held || error instanceof StaleVersion;
      return ann.decide(again, 'approve').then(() => again, (error) => !isEarly(error) && Promise.reject(error));
    }, 'the question is decided');
    assert.equal(decided.id, question.id);
    assert.equal(await resumed, 'Done.');
    assert.deepEqual([fake.asked.length, (await allQuestions(ann, `waiting-${way}`)).length], [2, 1]);
  });
}

test('a stop ends the loop of code that only reads a stream, so it cannot take a part for the whole', async () => {
  await using fake = await FakeModel.start(writes('One', new Promise(() => undefined)), says('One and two.'));
  let texts: string[] = [];
  const code = durable<typeof desk, null, string>(async () => {
    texts = [];
    for await (const text of streamText({ model: fake.model, prompt: 'Count.' }).textStream) texts.push(text);
    return texts.join('');
  });
  const work = (): Promise<string> => router.run(desk, { alias: 'loop', input: null }, code);
  const working = work();
  working.catch(() => undefined);
  await eventually(() => texts.length === 1, 'a part is there');
  await stop('loop', 'immediate');
  await assert.rejects(working, Stopped);
  assert.equal(await resume('loop', work), 'One and two.');
});
