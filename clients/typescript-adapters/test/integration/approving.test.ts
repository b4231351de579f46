import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type DecisionName, type DecisionOptions, IdempotencyConflict, type Operator, type Router, RouterError } from 'interrupt-router';
import { z } from 'zod';
import { type ModelMessage, ToolLoopAgent, durable, generateText, isStepCount, tool } from '../../src/ai-sdk.js';
import { FakeModel, call, calls, says } from '../support/fake-model.js';
import { IrqServer } from '../support/irq-server.js';
import { allQuestions, desk, openQuestion, openQuestions } from '../support/people.js';
import { sample } from '../support/sample.js';

let server: IrqServer;
let router: Router;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  router = await server.router(desk);
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

const REFUND = call('call-1', 'refund', { cents: 500 });
const options = { kinds: { refund: 'REFUNDS' } } as const;

/** A refund, and what was paid. */
function till(): { paid: number[]; refund: ReturnType<typeof refundInto> } {
  const paid: number[] = [];
  return { paid, refund: refundInto(paid) };
}

function refundInto(paid: number[]) {
  return tool({
    inputSchema: z.object({ cents: z.number() }),
    execute: ({ cents }: { cents: number }) => {
      paid.push(cents);
      return `paid ${cents}`;
    },
  });
}

/** An agent that may pay back once a person has approved; its run gives the text. */
function settle(alias: string, fake: FakeModel, refund: ReturnType<typeof refundInto>, worker = router): Promise<string> {
  const code = durable<typeof desk, null, string>(async () => {
    const toolApproval = { refund: { type: 'user-approval', reason: 'Money leaves the house.' } } as const;
    return (await generateText({ model: fake.model, tools: { refund }, toolApproval, stopWhen: isStepCount(5), prompt: 'Settle it.' })).text;
  }, options);
  return worker.run(desk, { alias, input: null }, code);
}

test('the sample of the SDK works with its import changed', async () => {
  await using fake = await FakeModel.start(calls(call('call-1', 'runCommand', { command: 'rm new.txt' })), says('Removed.'));
  const ran: string[] = [];
  const command = (it: string): string => (ran.push(it), 'done');
  const working = router.run(desk, { alias: 'sample', input: null }, durable(() => sample(fake.model, command)));
  const question = await openQuestion(ann, 'sample');
  assert.equal(question.reason, 'Call the tool runCommand?');
  assert.equal(question.agentId, `${question.runId}/root`);
  assert.deepEqual(ran, []);
  await ann.decide(question, 'approve');
  // The sample calls again with its decisions: there are none left, so the model is not asked a third time.
  assert.deepEqual(await working, ['Removed.', 'Removed.']);
  assert.deepEqual([ran, fake.read, fake.asked.length], [['rm new.txt'], ['done'], 2]);
  assert.equal((await allQuestions(ann, 'sample')).length, 1);
});

test('a tool that needs an approval is executed once a person has approved', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Done.'));
  const { paid, refund } = till();
  const working = settle('approved', fake, refund);
  const question = await openQuestion(ann, 'approved');
  assert.deepEqual(question.fields, { tool: 'refund', arguments: { cents: 500 } });
  assert.equal(question.contextForDecision, 'Money leaves the house.');
  // Words are no yes to a call.
  assert.deepEqual([question.answerForm, question.allowedDecisions.includes('respond')], ['yes_or_no', false]);
  assert.equal(question.agentId, `${question.runId}/root/refunds`);
  assert.deepEqual(paid, []);
  await ann.decide(question, 'approve');
  assert.equal(await working, 'Done.');
  assert.deepEqual([paid, fake.read], [[500], ['paid 500']]);
  assert.equal((await ann.run('approved')).status, 'completed');
});

const REFUSALS: readonly (readonly [DecisionName, DecisionOptions, string])[] = [
  ['reject', {}, 'The tool call was rejected.'],
  ['reject', { text: 'Too much.' }, 'Too much.'],
  ['ignore', {}, 'The tool call was rejected.'],
  ['cancel', {}, 'The tool call was rejected.'],
  ['reroute', { rerouteTo: 'LEGAL' }, 'Not called. Continue with LEGAL instead.'],
];
for (const [index, [decision, said, read]] of REFUSALS.entries()) {
  test(`after ${decision} the tool is not executed, and the model reads: ${read}`, async () => {
    await using fake = await FakeModel.start(calls(REFUND), says('I see.'));
    const { paid, refund } = till();
    const working = settle(`refused-${index}`, fake, refund);
    await ann.decide(await openQuestion(ann, `refused-${index}`), decision, said);
    assert.equal(await working, 'I see.');
    assert.deepEqual([paid, fake.read], [[], [read]]);
  });
}

test('where no person answers in time the tool is not executed', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('I see.'));
  const { paid, refund } = till();
  const hasty: typeof fetch = (address, init) => {
    const isAsked = init?.method === 'PUT' && String(address).includes('/questions/');
    return fetch(address, isAsked ? { ...init, body: JSON.stringify({ ...JSON.parse(String(init.body)), deadline_ms: 300 }) } : init);
  };
  assert.equal(await settle('late', fake, refund, await server.router(desk, { fetch: hasty })), 'I see.');
  assert.deepEqual([paid, fake.read], [[], ['Not called: no person has answered in time.']]);
});

test('an edit that the kind cannot take executes nothing', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('I see.'));
  const { paid, refund } = till();
  const code = durable<typeof desk, null, string>(async () => {
    const settings = { model: fake.model, tools: { refund }, toolApproval: { refund: 'user-approval' }, stopWhen: isStepCount(5) } as const;
    return (await generateText({ ...settings, prompt: 'Settle it.' })).text;
  });
  const working = router.run(desk, { alias: 'uneditable', input: null }, code);
  const question = await openQuestion(ann, 'uneditable');
  // The server need not take it: then there is another answer.
  const edited = await ann.decide(question, 'edit', { request: { cents: 3 } }).catch((error) => error);
  if (edited instanceof RouterError) await ann.decide(await openQuestion(ann, 'uneditable'), 'reject');
  assert.equal(await working, 'I see.');
  assert.deepEqual(paid, []);
});

test('a person edits the arguments', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Done.'));
  const { paid, refund } = till();
  const working = settle('edited', fake, refund);
  await ann.decide(await openQuestion(ann, 'edited'), 'edit', { request: { cents: 3 } });
  await working;
  assert.deepEqual([paid, fake.read], [[3], ['paid 3']]);
});

test('arguments that do not fit the route go back to the model', async () => {
  await using fake = await FakeModel.start(calls(call('a', 'refund', { cents: 0 })), calls(call('b', 'refund', { cents: 7 })), says('Done.'));
  const { paid, refund } = till();
  const working = settle('misfit', fake, refund);
  await ann.decide(await openQuestion(ann, 'misfit'), 'approve', { text: 'Kindly.' });
  const second = await openQuestion(ann, 'misfit');
  assert.match(fake.read[0] ?? '', /The arguments are invalid: \/refund\/cents: .* In their words: Kindly\.$/);
  await ann.decide(second, 'approve');
  await working;
  assert.deepEqual([paid, fake.read.length, fake.read[1]], [[7], 2, 'paid 7']);
});

test('the calls of one answer are asked about at once, and what needs no approval is executed', async () => {
  const look = call('call-3', 'lookUp', { order: 17 });
  await using fake = await FakeModel.start(calls(REFUND, call('call-2', 'refund', { cents: 7 }), look), says('Done.'));
  const { paid, refund } = till();
  const lookUp = tool({ inputSchema: z.object({ order: z.number() }), execute: ({ order }) => `order ${order} is broken` });
  let messages: ModelMessage[] = [];
  const code = durable<typeof desk, null, void>(async () => {
    const settings = { model: fake.model, tools: { refund, lookUp }, toolApproval: { refund: 'user-approval' } } as const;
    messages = (await generateText({ ...settings, prompt: 'Settle it.' })).responseMessages;
  }, options);
  const working = router.run(desk, { alias: 'together', input: null }, code);
  for (const question of (await openQuestions(ann, 'together', 2)).reverse()) {
    const { cents } = question.fields['arguments'] as { cents: number };
    await ann.decide(question, cents === 7 ? 'approve' : 'reject', { text: 'Less.' });
  }
  await working;
  assert.deepEqual([paid, [...fake.read].sort()], [[7], ['Less.', 'order 17 is broken', 'paid 7']]);
  // The result has the messages of the whole call, with the decisions and the person's words.
  assert.deepEqual(messages.map((it) => it.role), ['assistant', 'tool', 'tool', 'tool', 'assistant']);
  const responses = messages.flatMap((it) => (it.role === 'tool' ? it.content : [])).filter((it) => it.type === 'tool-approval-response');
  assert.deepEqual(responses.map((it) => [it.approved, it.reason]), [[false, 'Less.'], [true, 'Less.']]);
});

for (const needsApproval of [true, false]) {
  const what = needsApproval ? 'one approval' : 'one execution';
  test(`two calls of an answer that have the same id are not ${what}`, async () => {
    await using fake = await FakeModel.start(calls(REFUND, call('call-1', 'refund', { cents: 99_999 })), says('Done.'));
    const { paid, refund } = till();
    const alias = `same-id-${needsApproval}`;
    const code = durable<typeof desk, null, string>(async () => {
      return (await generateText({ model: fake.model, tools: { refund: { ...refund, needsApproval } }, stopWhen: isStepCount(5), prompt: 'Settle it.' })).text;
    }, options);
    const working = router.run(desk, { alias, input: null }, code);
    await assert.rejects(working, IdempotencyConflict);
    assert.deepEqual([paid, (await allQuestions(ann, alias)).length], [[], 0]);
    assert.equal((await ann.run(alias)).status, 'failed');
  });
}

test('an agent of the SDK asks for tools that say themselves that they need an approval', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Done.'));
  const { paid, refund } = till();
  const agent = new ToolLoopAgent({
    model: fake.model,
    tools: { refund: { ...refund, needsApproval: true } },
  });
  const code = durable<typeof desk, null, string>(async () => (await agent.generate({ prompt: 'Settle it.' })).text, options);
  const working = router.run(desk, { alias: 'agent', input: null }, code);
  await ann.decide(await openQuestion(ann, 'agent'), 'approve');
  assert.equal(await working, 'Done.');
  assert.deepEqual([paid, fake.read], [[500], ['paid 500']]);
});
