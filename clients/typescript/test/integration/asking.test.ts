import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { RunFinished, type Operator, type Router } from '../../src/index.js';
import { desk, openQuestion, routed } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { IrqServer } from '../support/irq-server.js';

let server: IrqServer;
let router: Router;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  router = await server.router(desk);
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

test('a question waits for its person, whose decision fixes the route that a model fills in', async () => {
  const running = router.run(desk, { alias: 'asked', input: { order: 17 } }, async (run) => {
    assert.deepEqual(run.input, { order: 17 });
    assert.equal(run.alias, 'asked');
    const refunds = await run.agent('REFUNDS');
    const answer = routed(await refunds.ask({
      key: 'refund',
      reason: 'Refund 120 €?',
      context: 'Order 17 arrived broken.',
      choices: [{ value: 'yes', label: 'Pay' }, 'no'],
      confirmations: [{ id: 'seen', prompt: 'Did you see the photo?', default: false, impactIfNo: 'it goes to legal' }],
      fields: { max_cents: 12_000 },
    }));
    assert.equal(answer.field, 'refund');
    assert.equal(answer.route, 'REFUNDS');
    assert.equal(answer.request, null);
    const { decision, choices, confirmations, text, by } = answer.decision;
    assert.deepEqual({ decision, choices, confirmations, text, by }, {
      decision: 'approve',
      choices: ['yes'],
      confirmations: { seen: true },
      text: 'be quick',
      by: 'ann',
    });
    return answer.fill(({ field, schema, messages }) => {
      assert.match(messages[0]?.content ?? '', /In their words: be quick/);
      assert.deepEqual(Object.keys((schema as { properties: object }).properties), ['refund']);
      return JSON.stringify({ [field]: { cents: 12_000 } });
    });
  });
  const question = await openQuestion(ann, 'asked');
  assert.equal(question.agentType, 'REFUNDS');
  assert.equal(question.contextForDecision, 'Order 17 arrived broken.');
  assert.deepEqual(question.choices.map((it) => it.label), ['Pay', 'no']);
  assert.deepEqual(question.confirmationItems, [{ id: 'seen', prompt: 'Did you see the photo?', defaultValue: false, impactIfNo: 'it goes to legal' }]);
  assert.deepEqual(question.fields, { max_cents: 12_000 });
  await ann.decide(question, 'approve', { choices: ['yes'], confirmations: { seen: true }, text: 'be quick' });
  assert.deepEqual(await running, { cents: 12_000 });
  assert.equal((await ann.run('asked')).status, 'completed');
});

test('a question that says what an answer is takes nothing else', async () => {
  const running = router.run(desk, { alias: 'formed', input: {} }, async (run) => {
    const answer = await (await run.agent('REFUNDS')).ask({ key: 'refund', reason: 'Refund?', answerForm: 'yes_or_no' });
    return answer.decidedAs;
  });
  const question = await openQuestion(ann, 'formed');
  assert.equal(question.answerForm, 'yes_or_no');
  await assert.rejects(ann.decide(question, 'respond', { text: 'perhaps' }), /it does not take `respond`/);
  await ann.decide(question, 'approve');
  assert.equal(await running, 'approved');
});

test('a run that is completed gives its result, and its code is not called', async () => {
  const order = { alias: 'twice', input: { order: 1 } };
  const paid = await router.run(desk, order, async () => ({ paid_at: '10:00', extra: undefined }));
  assert.deepEqual(paid, { paid_at: '10:00' });
  const again = await router.run(desk, order, () => assert.fail('the code ran'));
  assert.deepEqual(again, paid);
});

test('a person may send the answer elsewhere, and the type follows', async () => {
  const running = router.run(desk, { alias: 'rerouted', input: null }, async (run) => {
    const answer = routed(await (await run.agent('REFUNDS')).ask({ key: 'refund', reason: 'Refund?' }));
    if (answer.field !== 'legal') return `went to ${answer.route}`;
    const request = await answer.fill(() => ({ legal: { matter: 'fraud' } }));
    return `${answer.route} ${answer.decidedAs} ${request.matter}`;
  });
  await ann.decide(await openQuestion(ann, 'rerouted'), 'reroute', { rerouteTo: 'LEGAL' });
  assert.equal(await running, 'LEGAL rerouted fraud');
});

test('a request that a person has edited needs no model', async () => {
  const running = router.run(desk, { alias: 'edited', input: null }, async (run) => {
    const answer = routed(await (await run.agent('REFUNDS')).ask({ key: 'refund', reason: 'Refund?' }));
    return answer.fill(() => assert.fail('a model was called'));
  });
  await ann.decide(await openQuestion(ann, 'edited'), 'edit', { request: { cents: 5 } });
  assert.deepEqual(await running, { cents: 5 });
});

test('a model is corrected three times, and then a person fills in the request', async () => {
  const told: string[][] = [];
  const running = router.run(desk, { alias: 'corrected', input: null }, async (run) => {
    const answer = routed(await (await run.agent('REFUNDS')).ask({ key: 'refund', reason: 'Refund?' }));
    return answer.fill(({ messages }) => {
      told.push(messages.map((it) => it.content));
      return { refund: { cents: -told.length } };
    }, 'openai');
  });
  await ann.decide(await openQuestion(ann, 'corrected'), 'approve');
  const asked = await openQuestion(ann, 'corrected', 'could not fill in');
  assert.deepEqual(told.map((it) => it.length), [1, 3, 5, 7]);
  assert.match(told[1]?.[2] ?? '', /\/refund\/cents/);
  await ann.decide(asked, 'edit', { request: { cents: 7 } });
  assert.deepEqual(await running, { cents: 7 });
});

test('a person who gives no request says why', async () => {
  const running = router.run(desk, { alias: 'unfilled', input: null }, async (run) => {
    return routed(await (await run.agent('REFUNDS')).ask({ key: 'refund', reason: 'Refund?' })).fill(() => 'no');
  });
  await ann.decide(await openQuestion(ann, 'unfilled'), 'approve');
  await ann.decide(await openQuestion(ann, 'unfilled', 'could not fill in'), 'reject', { text: 'He is a fraud.' });
  await assert.rejects(running, { code: 'unfilled', detail: /gave none: He is a fraud\.$/ });
});

test('each dialect has a schema of its own', async () => {
  const running = router.run(desk, { alias: 'dialects', input: null }, async (run) => {
    const answer = routed(await (await run.agent('LEGAL')).ask({ key: 'legal', reason: 'Object?' }));
    const dialects = ['json-schema', 'openai', 'anthropic', 'gemini', 'grammar'] as const;
    const schemas = await Promise.all(dialects.map((dialect) => answer.schema(dialect)));
    assert.deepEqual(schemas.map((it) => it.dialect), dialects);
    assert.ok(schemas.every((it) => it.field === 'legal'));
  });
  await ann.decide(await openQuestion(ann, 'dialects'), 'approve');
  await running;
});

test('an answer to a kind without a route is its decision', async () => {
  const running = router.run(desk, { alias: 'no-route', input: null }, async (run) => {
    const answer = routed(await run.root.ask({ key: 'go-on', reason: 'Go on?' }));
    await assert.rejects(async () => answer.fill(() => ({})), { code: 'no-route' });
    return [answer.field, answer.route, answer.decision.decision];
  });
  await ann.decide(await openQuestion(ann, 'no-route'), 'approve');
  assert.deepEqual(await running, [null, null, 'approve']);
});

test('many questions wait at once', async () => {
  const keys = Array.from({ length: 70 }, (_, index) => `q${index}`);
  const running = router.run(desk, { alias: 'many', input: null }, async (run) => {
    const all = await Promise.all(keys.map((key) => run.root.ask({ key, reason: `Question ${key}?` })));
    return all.map((it) => it.key);
  });
  const { runId } = await eventually(() => ann.run('many').catch(() => undefined), 'the run is there');
  const open = async (): Promise<string[]> => {
    const ids = [];
    for await (const interrupt of ann.interrupts({ runId })) ids.push(interrupt.id);
    return ids;
  };
  const ids = await eventually(async () => {
    const found = await open();
    return found.length === keys.length && found;
  }, 'all questions are open');
  for (const id of ids.reverse()) await ann.decide(await ann.interrupt(id), 'approve');
  assert.deepEqual(await running, keys);
});

test('an error of the code fails the run, with its words', async () => {
  const order = { alias: 'failed', input: null };
  const failure = new Error('the bank is closed');
  await assert.rejects(router.run(desk, order, () => Promise.reject(failure)), failure);
  const { status, reason } = await ann.run('failed');
  assert.deepEqual([status, reason], ['failed', 'Error: the bank is closed']);
  const again = router.run(desk, order, async () => 1);
  await assert.rejects(again, (error) => error instanceof RunFinished && /failed: Error: the bank is closed/.test(error.detail));
});

test('the code may cancel its run', async () => {
  const running = router.run(desk, { alias: 'cancelled', input: null }, async (run) => run.cancel('the customer withdrew'));
  await assert.rejects(running, { code: 'cancelled', detail: 'the customer withdrew' });
  const { status, reason } = await ann.run('cancelled');
  assert.deepEqual([status, reason], ['cancelled', 'the customer withdrew']);
});
