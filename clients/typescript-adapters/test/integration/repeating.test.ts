import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { EffectUnknown, IdempotencyConflict, type Operator, Released, type Router, RouterError, type Run } from 'interrupt-router';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type DurableOptions, type TextStreamPart, ToolLoopAgent, durable, generateText, isStepCount, slot, streamText, tool } from '../../src/ai-sdk.js';
import { eventually } from '../../../typescript/test/support/eventually.js';
import { type Answer, FakeModel, call, calls, says } from '../support/fake-model.js';
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

type Code = (run: Run<typeof desk, null>) => Promise<string>;

/** Runs code until its approval is open, lets the run go there, and runs the code again from its beginning. */
async function twice(alias: string, code: Code, options: DurableOptions<'DESK'> = {}): Promise<string> {
  const leaving = new AbortController();
  const handler = durable<typeof desk, null, string>(code, options);
  const first = router.run(desk, { alias, input: null, signal: leaving.signal }, handler);
  first.catch(() => undefined);
  const { id } = await openQuestion(ann, alias);
  leaving.abort();
  await assert.rejects(first, Released);
  const second = router.run(desk, { alias, input: null }, handler);
  await ann.decide(await ann.interrupt(id), 'approve');
  const result = await second;
  assert.equal((await allQuestions(ann, alias)).length, 1);
  return result;
}

const APPROVE = call('call-9', 'approve', {});
const approve = tool({ inputSchema: z.object({}), execute: () => 'approved' });
const settings = { toolApproval: { approve: 'user-approval' }, stopWhen: isStepCount(9), prompt: 'Settle it.' } as const;

test('code that runs again asks no model for what it has said, and executes no tool for what it has given', async () => {
  const LOOK = call('call-0', 'lookUp', { order: 17 });
  // Some providers count the calls of each answer from the start.
  await using fake = await FakeModel.start(calls(LOOK), calls(LOOK, call('call-1', 'fail', {})), calls(APPROVE), says('Done.'));
  const executed = { lookUp: 0, fail: 0 };
  const lookUp = tool({
    inputSchema: z.object({ order: z.number() }),
    // The SDK takes the last of what a tool yields.
    execute: async function* () {
      yield 'looking';
      yield `look ${++executed.lookUp}`;
    },
  });
  const fail = tool({
    inputSchema: z.object({}),
    execute: (): string => {
      executed.fail += 1;
      throw new Error('the line is dead');
    },
  });
  const text = await twice('kept', async () => {
    const { text } = await generateText({ ...settings, model: fake.model, tools: { lookUp, fail, approve } });
    return text;
  });
  assert.equal(text, 'Done.');
  assert.deepEqual([fake.asked.length, executed], [4, { lookUp: 2, fail: 1 }]);
  assert.deepEqual(fake.read, ['look 1', 'look 2', 'Error: the line is dead', 'approved']);
});

for (const isStreamed of [false, true]) {
  test(`what was answered is no answer to something else, ${isStreamed ? 'streamed' : 'at once'}`, async () => {
    await using fake = await FakeModel.start(calls(APPROVE));
    const alias = `other-${isStreamed}`;
    const asking = (prompt: string, signal = new AbortController().signal): Promise<string> => {
      const given = { ...settings, model: fake.model, tools: { approve }, prompt };
      const handler = durable<typeof desk, null, string>(async () => (isStreamed ? streamText(given).text : (await generateText(given)).text));
      return router.run(desk, { alias, input: null, signal }, handler);
    };
    const leaving = new AbortController();
    const first = assert.rejects(asking('Settle it.', leaving.signal), Released);
    await openQuestion(ann, alias);
    leaving.abort();
    await first;
    await assert.rejects(asking('Delete it.'), IdempotencyConflict);
    assert.equal(fake.asked.length, 1);
  });
}

test('code that runs again streams what was said and done before, and goes on', async () => {
  await using fake = await FakeModel.start(
    calls(call('call-0', 'lookUp', { order: 17 })),
    calls(APPROVE),
    says('It is all done.'),
  );
  let executed = 0;
  const lookUp = tool({ inputSchema: z.object({ order: z.number() }), execute: () => `look ${++executed}` });
  const runs: TextStreamPart<any>[][] = [];
  const text = await twice('streamed', async () => {
    const seen: TextStreamPart<any>[] = [];
    runs.push(seen);
    const result = streamText({ ...settings, model: fake.model, tools: { lookUp, approve } });
    for await (const part of result.stream) seen.push(part);
    return result.text;
  });
  assert.equal(text, 'It is all done.');
  assert.deepEqual([fake.asked.length, executed, fake.read], [3, 1, ['look 1', 'approved']]);
  const [first, second] = runs.map((it) => it.map(({ type }) => type).filter((type) => !type.startsWith('tool-input-')));
  assert.deepEqual(second?.slice(0, first?.length), first);
  assert.deepEqual([first?.at(-1), second?.at(-1)], ['tool-approval-request', 'finish']);
});

test('each call of the code is its own, also within a tool', async () => {
  await using fake = await FakeModel.start(
    calls(call('call-0', 'delegate', {})),
    says('It is broken.'),
    says('Now the approval.'),
    calls(APPROVE),
    says('Done.'),
  );
  const delegate = tool({
    inputSchema: z.object({}),
    execute: async () => (await generateText({ model: fake.model, prompt: 'What is with it?' })).text,
  });
  const text = await twice('nested', async () => {
    const tools = { delegate, approve };
    const first = await generateText({ ...settings, model: fake.model, tools });
    const second = await generateText({ ...settings, model: fake.model, tools });
    return `${first.text} ${second.text}`;
  });
  assert.equal(text, 'Now the approval. Done.');
  assert.equal(fake.asked.length, 5);
});

test('calls that run at the same time and have slots find what they had, in whichever order they come', async () => {
  const says_ = (response: Parameters<Answer>[0], asked: Parameters<Answer>[1]): void => says(`about ${asked.messages[0]?.content}`)(response, asked);
  await using fake = await FakeModel.start(says_, says_, calls(APPROVE), says('Done.'));
  let lives = 0;
  const text = await twice('slots', async () => {
    const isFirst = ++lives === 1;
    const of = (subject: string, waits: boolean): Promise<string> =>
      slot(subject, async () => {
        if (waits) await sleep(200);
        return (await generateText({ model: fake.model, prompt: subject })).text;
      });
    const both = await Promise.all([of('ann', !isFirst), of('bob', isFirst)]);
    await generateText({ ...settings, model: fake.model, tools: { approve } });
    return both.join(', ');
  });
  assert.equal(text, 'about ann, about bob');
  assert.equal(fake.asked.length, 4);
});

test('a model that a step takes instead is asked once, too', async () => {
  await using fake = await FakeModel.start(calls(APPROVE), says('Done.'));
  const text = await twice('step', async () => {
    const prepareStep = (): { model: typeof fake.model } => ({ model: fake.model });
    return (await generateText({ ...settings, model: 'replaced/below', tools: { approve }, prepareStep })).text;
  });
  assert.deepEqual([text, fake.asked.length, fake.read], ['Done.', 2, ['approved']]);
});

test('an agent whose model is replaced for a call asks it once, too', async () => {
  await using fake = await FakeModel.start(calls(APPROVE), says('Done.'));
  const agent = new ToolLoopAgent({
    model: 'replaced/below',
    tools: { approve },
    toolApproval: { approve: 'user-approval' },
    prepareCall: (given) => ({ ...given, model: fake.model }),
  });
  const text = await twice('agent', async () => (await agent.generate({ prompt: 'Settle it.' })).text);
  assert.deepEqual([text, fake.asked.length, fake.read], ['Done.', 2, ['approved']]);
});

test('arguments that do not fit are submitted once, however often the code runs', async () => {
  const misfit = calls(call('call-0', 'refund', { cents: 0 }));
  await using fake = await FakeModel.start(misfit, calls(APPROVE), says('Done.'));
  const refund = tool({ inputSchema: z.object({ cents: z.number() }), execute: (): string => assert.fail('it was executed') });
  let reached = 0;
  const approval = (): 'user-approval' => (reached++, 'user-approval');
  const toolApproval = { refund: 'user-approval', approve: approval } as const;
  const handler = durable<typeof desk, null, string>(
    async () => (await generateText({ ...settings, model: fake.model, tools: { approve, refund }, toolApproval })).text,
    { kinds: { refund: 'REFUNDS' } },
  );
  // The server asks a person after three corrections.
  for (let runs = 1; runs <= 5; runs++) {
    const leaving = new AbortController();
    const working = router.run(desk, { alias: 'misfit', input: null, signal: leaving.signal }, handler);
    working.catch(() => undefined);
    if (runs === 1) await ann.decide(await openQuestion(ann, 'misfit'), 'approve');
    await eventually(() => reached === runs, 'the code comes to the next approval');
    leaving.abort();
    await assert.rejects(working, Released);
  }
  const last = router.run(desk, { alias: 'misfit', input: null }, handler);
  await ann.decide(await openQuestion(ann, 'misfit'), 'approve');
  assert.equal(await last, 'Done.');
  assert.deepEqual([fake.asked.length, (await allQuestions(ann, 'misfit')).length], [3, 2]);
});

for (const isRepeatable of [false, true]) {
  const what = isRepeatable ? 'is executed again where that does no harm' : 'ends the call, and the model hears nothing';
  test(`a tool whose worker died in it ${what}`, async () => {
    const alias = `died-${isRepeatable}`;
    await using fake = await FakeModel.start(calls(call('call-0', 'pay', {})), says('Done.'));
    let isDead = false;
    let bury = (): void => undefined;
    const silence = new Promise<never>((_, fail) => (bury = () => fail(new RouterError({ code: 'buried', detail: 'it is dead' }))));
    silence.catch(() => undefined);
    const wire: typeof fetch = (...request) => (isDead ? silence : fetch(...request));
    const worker = await server.router(desk, { leaseMs: 1_000, fetch: wire });
    let executions = 0;
    const pay = tool({
      inputSchema: z.object({}),
      execute: () => {
        const dies = ++executions === 1;
        // Once dead, it stays so: a request of the first worker that the server answers late must not find the way out again.
        isDead ||= dies;
        return dies ? new Promise<string>(() => undefined) : 'paid';
      },
    });
    const code = durable<typeof desk, null, string>(
      async () => (await generateText({ model: fake.model, tools: { pay }, stopWhen: isStepCount(9), prompt: 'Pay.' })).text,
      { effects: isRepeatable ? { pay: { repeatable: true } } : {} },
    );
    void worker.run(desk, { alias, input: null }, code).catch(() => assert.fail('the dead speak'));
    await eventually(() => isDead, 'the worker dies');
    const second = router.run(desk, { alias, input: null }, code);
    if (isRepeatable) assert.equal(await second, 'Done.');
    else await assert.rejects(second, EffectUnknown);
    assert.deepEqual([executions, fake.asked.length], isRepeatable ? [2, 2] : [1, 1]);
    bury();
  });
}
