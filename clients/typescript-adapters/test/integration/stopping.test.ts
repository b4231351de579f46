import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Held, type Operator, type Router, RunPaused, StaleVersion, Stopped } from 'interrupt-router';
import { z } from 'zod';
import { durable, generateText, isStepCount, tool } from '../../src/ai-sdk.js';
import { eventually } from '../../../typescript/test/support/eventually.js';
import { FakeModel, after as once, call, calls, says, silent } from '../support/fake-model.js';
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

/** An agent with a tool, which also says when the run is told to stop. */
function settle(alias: string, fake: FakeModel, execute: (order: number, told: AbortSignal) => unknown, approve = false): Promise<string> {
  const code = durable<typeof desk, null, string>(async (run) => {
    const lookUp = tool({ inputSchema: z.object({ order: z.number() }), execute: ({ order }) => execute(order, run.signal) });
    const toolApproval = { lookUp: approve ? 'user-approval' : 'not-applicable' } as const;
    const { text } = await generateText({ model: fake.model, tools: { lookUp }, toolApproval, stopWhen: isStepCount(5), prompt: 'Settle it.' });
    return text;
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

test('an immediate stop aborts the call of the model', async () => {
  await using fake = await FakeModel.start(silent, says('Done.'));
  const work = (): Promise<string> => settle('cut', fake, () => assert.fail('it was executed'));
  const working = work();
  working.catch(() => undefined);
  await eventually(() => fake.asked.length === 1, 'the model is asked');
  await stop('cut', 'immediate');
  await eventually(() => fake.cutOff === 1, 'the request is cut off');
  await assert.rejects(working, (error) => error instanceof Stopped && error.stop.reason === 'lunch');
  assert.equal((await ann.run('cut')).status, 'paused');
  assert.equal(await resume('cut', work), 'Done.');
  assert.deepEqual([fake.asked.length, fake.cutOff], [2, 1]);
});

test('a graceful stop lets the model answer, and nothing more happens until the run is resumed', async () => {
  let tell = (): void => undefined;
  const told = new Promise<void>((resolve) => (tell = resolve));
  await using fake = await FakeModel.start(once(told, calls(LOOK)), says('Done.'));
  const executed: number[] = [];
  const code = durable<typeof desk, null, string>(async (run) => {
    void fired(run.signal).then(tell);
    const lookUp = tool({ inputSchema: z.object({ order: z.number() }), execute: ({ order }) => executed.push(order) });
    return (await generateText({ model: fake.model, tools: { lookUp }, stopWhen: isStepCount(5), prompt: 'Settle it.' })).text;
  });
  const work = (): Promise<string> => router.run(desk, { alias: 'graceful', input: null }, code);
  const working = work();
  working.catch(() => undefined);
  await eventually(() => fake.asked.length === 1, 'the model is asked');
  await stop('graceful', 'graceful');
  await assert.rejects(working, Stopped);
  assert.deepEqual([executed, fake.asked.length, fake.cutOff], [[], 1, 0]);
  assert.equal((await ann.run('graceful')).status, 'paused');
  // The answer that it gave is kept, so it is not asked for that again.
  assert.equal(await resume('graceful', work), 'Done.');
  assert.deepEqual([executed, fake.asked.length], [[17], 2]);
});

test('a stop while a tool is executed ends the run, and is no output of the tool', async () => {
  await using fake = await FakeModel.start(calls(LOOK), says('Done.'));
  let executions = 0;
  const work = (): Promise<string> =>
    settle('tool', fake, async (_, told) => {
      executions += 1;
      await fired(told);
      return 'it is broken';
    });
  const working = work();
  working.catch(() => undefined);
  await eventually(() => executions === 1, 'the tool is executed');
  await stop('tool', 'graceful');
  await assert.rejects(working, Stopped);
  assert.equal(fake.asked.length, 1);
  assert.equal(await resume('tool', work), 'Done.');
  assert.deepEqual([executions, fake.read], [1, ['it is broken']]);
});

test('an immediate stop cuts a tool off, and that is no output of the tool', async () => {
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
    async () => (await generateText({ model: fake.model, tools: { lookUp }, stopWhen: isStepCount(5), prompt: 'Settle it.' })).text,
    { effects: { lookUp: { repeatable: true } } },
  );
  const work = (): Promise<string> => router.run(desk, { alias: 'tool-cut', input: null }, code);
  const working = work();
  working.catch(() => undefined);
  await eventually(() => executions === 1, 'the tool is executed');
  await stop('tool-cut', 'immediate');
  await assert.rejects(working, Stopped);
  assert.equal(await resume('tool-cut', work), 'Done.');
  assert.deepEqual([executions, fake.asked.length, fake.read], [2, 2, ['it is broken']]);
});

test('a stop wakes an agent that waits for an approval, and the same question is there when it goes on', async () => {
  await using fake = await FakeModel.start(calls(LOOK), says('Done.'));
  const work = (): Promise<string> => settle('waiting', fake, () => 'it is broken', true);
  const working = work();
  working.catch(() => undefined);
  const question = await openQuestion(ann, 'waiting');
  await stop('waiting', 'graceful');
  await assert.rejects(working, Stopped);
  const resumed = resume('waiting', work);
  const decided = await eventually(async () => {
    const again = await openQuestion(ann, 'waiting');
    // Until the run goes on, its stop holds the question; then the question has a new version.
    const isEarly = (error: unknown): boolean => error instanceof Held || error instanceof StaleVersion;
    return ann.decide(again, 'approve').then(() => again, (error) => !isEarly(error) && Promise.reject(error));
  }, 'the question is decided');
  assert.equal(decided.id, question.id);
  assert.equal(await resumed, 'Done.');
  assert.deepEqual([fake.asked.length, (await allQuestions(ann, 'waiting')).length], [2, 1]);
});
