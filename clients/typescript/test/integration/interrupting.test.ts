import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Operator, Released, type Router, RunPaused, Stopped } from '../../src/index.js';
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

/** Ends as soon as a signal fires. */
function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The address of an agent of a run. */
async function address(alias: string, node = 'root'): Promise<string> {
  const { runId } = await eventually(() => ann.run(alias).catch(() => undefined), `${alias} is there`);
  return `${runId}/${node}`;
}

test('a pause wakes a question, the run is paused once the code has ended, and goes on where it was', async () => {
  const order = { alias: 'paused', input: null };
  let cleanedUp = false;
  const code: Parameters<typeof router.run<typeof desk, null, string>>[2] = async (run) => {
    try {
      const { decision } = routed(await run.root.ask({ key: 'go-on', reason: 'Go on?' }));
      return decision.by;
    } finally {
      assert.equal((await ann.run('paused')).status === 'paused', false);
      cleanedUp = true;
    }
  };
  const running = router.run(desk, order, code);
  await openQuestion(ann, 'paused', 'Go on?');
  await ann.stop(await address('paused'), { scope: 'run', reason: 'lunch' });
  await assert.rejects(running, (error) => error instanceof Stopped && error.stop.reason === 'lunch' && error.stop.type === 'PAUSE');
  assert.ok(cleanedUp);
  assert.equal((await ann.run('paused')).status, 'paused');
  await assert.rejects(router.run(desk, order, code), RunPaused);
  await ann.resume('paused');
  const again = eventually(() => router.run(desk, order, code).catch((error) => !(error instanceof RunPaused) && Promise.reject(error)), 'resumed');
  await ann.decide(await openQuestion(ann, 'paused', 'Go on?'), 'approve');
  assert.equal(await again, 'ann');
});

test('a graceful stop lets an effect end, and an immediate one does not', async () => {
  for (const mode of ['graceful', 'immediate'] as const) {
    const alias = `stop-${mode}`;
    let begun = (): void => undefined;
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const states: boolean[] = [];
    const running = router.run(desk, { alias, input: null }, async (run) => {
      const lasting = run.root.effect('pay', async (effect) => {
        begun();
        await fired(run.signal);
        states.push(effect.signal.aborted, run.immediate.aborted);
        return 'paid';
      });
      assert.equal(await lasting, 'paid');
      await run.root.report({ step: 2 });
      return 'not stopped';
    });
    await hasBegun;
    await ann.stop(await address(alias), { scope: 'run', mode });
    await assert.rejects(running, Stopped);
    const isImmediate = mode === 'immediate';
    assert.deepEqual(states, [isImmediate, isImmediate], mode);
    assert.equal((await ann.run(alias)).status, 'paused');
  }
});

test('what is cut off by the signal is a stop, whatever error it throws', async () => {
  const running = router.run(desk, { alias: 'cut-off', input: null }, async (run) => {
    await sleep(60_000, undefined, { signal: run.signal });
  });
  await ann.cancel(await address('cut-off').then((it) => it.replace('/root', '')), { mode: 'immediate', reason: 'no longer wanted' });
  await assert.rejects(running, (error) => error instanceof Stopped && error.stop.reason === 'no longer wanted');
  assert.equal((await ann.run('cut-off')).status, 'cancelled');
});

test('code that computes asks whether it was interrupted', async () => {
  let looks = 0;
  const running = router.run(desk, { alias: 'computing', input: null }, async (run) => {
    while (!(await run.interrupted())) looks++;
    return 'this is too late to be a result';
  });
  await eventually(() => looks > 3, 'the code computes');
  await ann.stop(await address('computing'), { scope: 'run' });
  await running.catch((error: unknown) => assert.ok(error instanceof Stopped));
  const { status } = await ann.run('computing');
  assert.ok(status === 'completed' || status === 'paused', status);
});

test('an agent that is pruned ends alone, with those below it', async () => {
  const running = router.run(desk, { alias: 'pruned', input: null }, async (run) => {
    const refunds = await run.agent('REFUNDS');
    const legal = await run.agent('LEGAL', 'lawyer', refunds);
    const refused = await refunds.task(async () => (await legal.ask({ key: 'legal', reason: 'Object?' })).key);
    assert.equal(refused, undefined);
    assert.ok(refunds.signal.aborted && legal.signal.aborted && !run.signal.aborted);
    const { decision } = routed(await run.root.ask({ key: 'without', reason: 'Go on without refunds?' }));
    return decision.decision;
  });
  await openQuestion(ann, 'pruned', 'Object?');
  await ann.stop(await address('pruned', 'root/refunds'), { type: 'PRUNE', reason: 'too expensive' });
  await ann.decide(await openQuestion(ann, 'pruned', 'Go on without'), 'approve');
  assert.equal(await running, 'approve');
  const [root] = await ann.tree('pruned');
  assert.deepEqual([root?.status, root?.children[0]?.status, root?.children[0]?.children[0]?.status], ['completed', 'pruned', 'pruned']);
});

test('an agent that is pruned before its work, or in an earlier life of the run, does nothing', async () => {
  const order = { alias: 'pruned-before', input: null };
  const code: Parameters<typeof router.run<typeof desk, null, string>>[2] = async (run) => {
    await run.agent('REFUNDS');
    if ((await run.lastCheckpoint()) === null) {
      await ann.stop(`${run.id}/root/refunds`, { type: 'PRUNE', reason: 'not wanted' });
      await eventually(async () => (await run.signals()).stopping, 'the prune arrives');
      await run.checkpoint('pruned');
    }
    const refunds = await run.agent('REFUNDS');
    const refused = await refunds.task(() => refunds.effect('pay', () => assert.fail('it was paid')));
    assert.equal(refused, undefined);
    return routed(await run.root.ask({ key: 'rest', reason: 'And the rest?' })).decision.by;
  };
  const controller = new AbortController();
  const first = router.run(desk, { ...order, signal: controller.signal }, code);
  const question = await openQuestion(ann, 'pruned-before', 'And the rest?');
  controller.abort();
  await assert.rejects(first, Released);
  const second = router.run(desk, order, code);
  await ann.decide(await ann.interrupt(question.id), 'approve');
  assert.equal(await second, 'ann');
});

test('a run of which an agent was pruned can be paused like any other', async () => {
  const running = router.run(desk, { alias: 'pruned-paused', input: null }, async (run) => {
    const refunds = await run.agent('REFUNDS');
    await refunds.task(async () => (await refunds.ask({ key: 'refund', reason: 'Refund?' })).key);
    await run.root.ask({ key: 'rest', reason: 'And the rest?' });
  });
  await openQuestion(ann, 'pruned-paused', 'Refund?');
  await ann.stop(await address('pruned-paused', 'root/refunds'), { type: 'PRUNE', reason: 'not wanted' });
  await openQuestion(ann, 'pruned-paused', 'And the rest?');
  await ann.stop(await address('pruned-paused'), { scope: 'run', reason: 'lunch' });
  await assert.rejects(running, Stopped);
  const { status, reason } = await ann.run('pruned-paused');
  assert.deepEqual([status, reason], ['paused', 'lunch']);
});

test('a pruned agent that the code cannot do without cancels the run', async () => {
  const running = router.run(desk, { alias: 'needed', input: null }, async (run) => {
    await (await run.agent('REFUNDS')).ask({ key: 'refund', reason: 'Refund?' });
  });
  await openQuestion(ann, 'needed');
  await ann.stop(await address('needed', 'root/refunds'), { type: 'PRUNE', reason: 'no' });
  await assert.rejects(running, Stopped);
  assert.equal((await ann.run('needed')).status, 'cancelled');
});

test('messages come once, in order, to the agent that they are for', async () => {
  const running = router.run(desk, { alias: 'messages', input: null }, async (run) => {
    const refunds = await run.agent('REFUNDS');
    const first = await eventually(async () => {
      const { messages } = await run.signals();
      return messages.length === 3;
    }, 'all messages are there').then(() => refunds.messages());
    const [root, second] = [await run.root.messages(), await refunds.messages()];
    return [first, root, second].map((it) => it.map(({ text, from }) => `${from}: ${text}`));
  });
  const to = await address('messages', 'root/refunds');
  await eventually(() => ann.agent(to).catch(() => undefined), 'the agent works');
  for (const text of ['Be quick.', 'And kind.']) await ann.send(to, text);
  await ann.send(await address('messages'), 'All well?');
  assert.deepEqual(await running, [['ann: Be quick.', 'ann: And kind.'], ['ann: All well?'], []]);
});

test('an unread message does not keep the worker from hearing of a stop or a decision', async () => {
  const running = router.run(desk, { alias: 'unread', input: null }, async (run) => routed(await run.root.ask({ key: 'a', reason: 'A?' })).decision.by);
  const question = await openQuestion(ann, 'unread');
  await ann.send(await address('unread'), 'Never read.');
  await ann.decide(question, 'approve');
  assert.equal(await running, 'ann');
});

test('a supervisor makes an agent interrupt itself, and its answer goes where the supervisor says', async () => {
  const running = router.run(desk, { alias: 'steered', input: null }, async (run) => {
    const refunds = await run.agent('REFUNDS');
    const request = await eventually(() => refunds.interruptRequest().then((it) => it ?? undefined), 'the request comes');
    assert.equal(request.rerouteTo, 'LEGAL');
    const answer = routed(await refunds.ask({ key: 'steered', reason: request.reason }));
    return [answer.field, answer.decidedAs, await refunds.interruptRequest()];
  });
  const agent = await eventually(async () => ann.agent(await address('steered', 'root/refunds')).catch(() => undefined), 'the agent works');
  const event = { rerouteTo: 'LEGAL', eventId: 'look-1', timestamp: new Date().toISOString() };
  const publish = (): ReturnType<Operator['requestInterrupt']> => ann.requestInterrupt(agent, 'Let legal look', event);
  const published = await publish();
  assert.equal(published.target, 'LEGAL');
  assert.equal((await publish()).interrupt.id, published.interrupt.id);
  const question = await openQuestion(ann, 'steered', 'Let legal look');
  assert.equal(question.rerouteToAgentType, 'LEGAL');
  await ann.decide(question, 'approve');
  assert.deepEqual(await running, ['legal', 'rerouted', null]);
  assert.equal((await ann.interruptRequest('look-1')).decision?.by, 'ann');
});
