import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { EffectUnkept, EffectUnknown, IdempotencyConflict, Invalid, LeaseLost, type Operator, type Router, type RouterOptions, RunOwned, Released } from '../../src/index.js';
import { desk, openQuestion, routed } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { heldBack } from '../support/held-back.js';
import { IrqServer } from '../support/irq-server.js';
import { LossyProxy } from '../support/lossy-proxy.js';
import { ownerOf } from '../support/owner.js';

let server: IrqServer;
let router: Router;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  router = await server.router(desk);
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

/** A router whose worker dies when `die` is called: nothing that it sends arrives any more. */
async function mortal(options: RouterOptions = {}): Promise<{ worker: Router; die: () => void }> {
  let isDead = false;
  const wire: typeof fetch = (...request) => (isDead ? new Promise<never>(() => undefined) : fetch(...request));
  const worker = await server.router(desk, { leaseMs: 1_000, fetch: wire, ...options });
  return { worker, die: () => void (isDead = true) };
}

test('the next worker does nothing twice, asks nothing twice, and knows the answer', async () => {
  const order = { alias: 'died', input: null };
  const ledger: string[] = [];
  const { worker, die } = await mortal();
  const work = (name: string, atTheEnd: () => Promise<void>): Parameters<typeof router.run<typeof desk, null, string[]>>[2] => {
    return async (run) => {
      const refunds = await run.agent('REFUNDS');
      const price = await refunds.effect('price', () => ledger.push(`${name} looks up`));
      const answer = routed(await refunds.ask({ key: 'refund', reason: `Refund ${price}?` }));
      const request = await refunds.task<object>(() => answer.fill(() => ({ refund: { cents: ledger.push(`${name} fills in`) } })));
      assert.ok(request !== undefined && 'cents' in request);
      await atTheEnd();
      return [...ledger, String(request.cents)];
    };
  };
  let isDead = false;
  const first = worker.run(desk, order, work('first', () => {
    die();
    isDead = true;
    return new Promise(() => undefined);
  }));
  first.catch(() => assert.fail('the dead speak'));
  const question = await openQuestion(ann, 'died');
  await ann.decide(question, 'approve');
  await eventually(() => isDead, 'the first worker dies');
  const second = await router.run(desk, order, work('second', async () => undefined));
  assert.deepEqual(second, ['first looks up', 'first fills in', '2']);
  const asked = [];
  for await (const it of ann.interrupts({ status: 'resolved', runId: question.runId })) asked.push(it.id);
  assert.deepEqual(asked, [question.id]);
});

test('an effect that a dead worker began is unknown, unless the code says what to do', async () => {
  const { worker, die } = await mortal();
  const order = { alias: 'unknown', input: null };
  const hanging = new Promise<never>(() => undefined);
  let isDead = false;
  void worker.run(desk, order, async ({ root }) => {
    const begun = ['plain', 'found', 'not-found'].map((key) => root.effect(key, () => hanging));
    await root.effect('twice', () => (die(), (isDead = true), hanging), { repeatable: true });
    await Promise.all(begun);
  });
  await eventually(() => isDead, 'the first worker dies');
  const result = await router.run(desk, order, async ({ root }) => {
    await assert.rejects(root.effect('plain', () => assert.fail('it was done again')), EffectUnknown);
    return [
      await root.effect('found', () => assert.fail('it was done again'), { lookup: () => 'it happened' }),
      await root.effect('not-found', () => 'done now', { lookup: () => undefined }),
      await root.effect('twice', () => 'done again', { repeatable: true }),
    ];
  });
  assert.deepEqual(result, ['it happened', 'done now', 'done again']);
});

test('an effect has the same id in every worker, and called twice it is done once', async () => {
  let calls = 0;
  const result = await router.run(desk, { alias: 'same', input: null }, async ({ root, id }) => {
    const pay = (): Promise<string> => root.effect('pay', (effect) => `${++calls} ${effect.id === `${id}:pay`}`);
    return [...(await Promise.all([pay(), pay()])), await pay()];
  });
  assert.deepEqual(result, ['1 true', '1 true', '1 true']);
});

test('a message that was read before a death is there for the next worker, once', async () => {
  const { worker, die } = await mortal();
  const order = { alias: 'messages', input: null };
  let isDead = false;
  const dying = worker.run(desk, order, async (run) => {
    await eventually(async () => (await run.signals()).messages.length > 0, 'the message comes');
    assert.deepEqual((await run.root.messages('first')).map((it) => it.text), ['Be quick.']);
    die();
    isDead = true;
    return new Promise(() => undefined);
  });
  dying.catch(() => assert.fail('the dead speak'));
  const { runId } = await eventually(() => ann.run('messages').catch(() => undefined), 'the run is there');
  // It takes none before its worker has it.
  await eventually(() => ann.send(`${runId}/root`, 'Be quick.').catch(() => undefined), 'the message is taken');
  await eventually(() => isDead, 'the first worker dies');
  const read = await router.run(desk, order, async ({ root }) => {
    const texts = [];
    for (const key of ['first', 'second', 'first']) texts.push((await root.messages(key)).map((it) => it.text));
    return texts;
  });
  assert.deepEqual(read, [['Be quick.'], [], ['Be quick.']]);
});

test('a key stands for one content: other words and other arguments are a conflict', async () => {
  const running = router.run(desk, { alias: 'contents', input: null }, async ({ root }) => {
    const ask = (reason: string): Promise<unknown> => root.ask({ key: 'pay', reason });
    assert.ok('decision' in ((await ask('Pay Ann 5?')) as object));
    await assert.rejects(ask('Pay Bob 500000?'), (error) => error instanceof IdempotencyConflict && String(error.problem['differs']) === 'reason');
    const pay = (cents: number): Promise<number> => root.effect('call_0', () => cents, { arguments: { paid_cents: cents } });
    assert.deepEqual([await pay(100), await pay(100)], [100, 100]);
    await assert.rejects(pay(99_999), IdempotencyConflict);
    const both = [100, 99_999].map((cents) => root.effect('call_1', () => cents, { arguments: { cents } }));
    const [first, second] = await Promise.allSettled(both);
    assert.deepEqual([first?.status, second?.status].sort(), ['fulfilled', 'rejected']);
  });
  running.catch(() => undefined);
  await ann.decide(await openQuestion(ann, 'contents'), 'approve');
  await running;
});

test('an effect whose code failed is not done again by itself', async () => {
  await router.run(desk, { alias: 'effect-failed', input: null }, async ({ root }) => {
    const failure = new Error('the line went dead');
    await assert.rejects(root.effect('pay', () => Promise.reject(failure)), failure);
    await assert.rejects(root.effect('pay', () => assert.fail('it was done again')), EffectUnknown);
  });
});

const cycle: unknown[] = [];
cycle.push(cycle);

function nested(depth: number): unknown {
  return depth === 0 ? 0 : [nested(depth - 1)];
}

const UNKEPT: Readonly<Record<string, readonly [value: unknown, what: RegExp]>> = {
  'a bigint': [2n ** 70n, /bigint/],
  'not a number': [{ price: NaN }, /NaN at "price"/],
  'an infinity': [[1, -Infinity], /-Infinity at "1"/],
  'a set': [{ orders: new Set([1]) }, /a Set at "orders"/],
  'a map': [new Map([[1, 2]]), /a Map/],
  bytes: [new Uint8Array(3), /a Uint8Array/],
  'a buffer': [{ file: Buffer.from('x') }, /a Buffer at "file"/],
  'an error': [new Error('no'), /a Error/],
  'a promise': [{ later: Promise.resolve(1) }, /a Promise/],
  'a cycle': [cycle, /circular/],
  'much nesting': [nested(500), /./],
  'very much nesting': [nested(7_000), /./],
  'half a character': [{ text: 'x\ud83d' }, /half a character at "text"/],
  'a result that is too large': ['x'.repeat(9 << 20), /./],
  'what throws itself': [{ toJSON: () => { throw new Error(`my own fault${'😀'.repeat(300)}`); } }, /my own fault/],
};
for (const [name, [value, what]] of Object.entries(UNKEPT)) {
  test(`an effect whose result is ${name} has happened once, and its error says what could not be kept`, async () => {
    const order = { alias: `unkept-${name.replaceAll(' ', '-')}`, input: null };
    let done = 0;
    const isUnkept = (error: unknown): boolean => {
      assert.ok(error instanceof EffectUnkept && /the effect pay has happened/.test(error.message) && what.test(error.what), String(error));
      return true;
    };
    const controller = new AbortController();
    const code: Parameters<typeof router.run<typeof desk, null, string>>[2] = async ({ root }) => {
      for (let tries = 0; tries < 2; tries++) await assert.rejects(root.effect('pay', () => (done++, value)), isUnkept);
      return routed(await root.ask({ key: 'a', reason: 'A?' })).decision.by;
    };
    const first = router.run(desk, { ...order, signal: controller.signal }, code);
    first.catch(() => undefined);
    const question = await openQuestion(ann, order.alias);
    controller.abort();
    await assert.rejects(first, Released);
    await ann.decide(await ann.interrupt(question.id), 'approve');
    assert.equal(await router.run(desk, order, code), 'ann');
    assert.equal(done, 1);
  });
}

test('what JSON holds is kept, and is what a later worker reads', async () => {
  const at = new Date(0);
  class Receipt {
    constructor(readonly at: Date, readonly note?: string) {}
  }
  const result = await router.run(desk, { alias: 'kept', input: null }, async ({ root }) => [
    await root.effect('receipt', () => new Receipt(at)),
    await root.effect('nothing', () => undefined),
    await root.effect('number', () => 2 ** 60),
    await root.effect('marked', () => ({ $unkept: 'of a user', more: 1 })),
  ]);
  assert.deepEqual(result, [{ at: at.toISOString() }, null, 2 ** 60, { $unkept: 'of a user', more: 1 }]);
});

test('answers that get lost change nothing', async () => {
  const seen = new Map<string, number>();
  // Of each request the first answer is lost, whatever it is.
  await using proxy = await LossyProxy.start(server.url, ({ method, url, headers }) => {
    const request = `${method} ${url?.replace(/wait_ms=\d+/, '')} ${String(headers['idempotency-key'])}`;
    seen.set(request, (seen.get(request) ?? 0) + 1);
    return seen.get(request) === 1;
  });
  const worker = await server.router(desk, { server: proxy.url, leaseMs: 10_000 });
  let effects = 0;
  const order = { alias: 'lossy', input: { order: 17 } };
  const running = worker.run(desk, order, async (run) => {
    const refunds = await run.agent('REFUNDS');
    const price = await refunds.effect('price', () => ++effects);
    const answer = routed(await refunds.ask({ key: 'refund', reason: `Refund ${price}?` }));
    let tries = 0;
    const request = await answer.fill(() => ({ refund: { cents: tries++ } }));
    await run.checkpoint({ price });
    return [request, tries, (await run.lastCheckpoint())?.state, await refunds.messages()];
  });
  const question = await openQuestion(ann, 'lossy');
  await ann.decide(question, 'approve');
  assert.deepEqual(await running, [{ cents: 1 }, 2, { price: 1 }, []]);
  assert.equal(effects, 1);
  assert.equal((await ann.run('lossy')).status, 'completed');
  assert.ok(proxy.lost > 10, `${proxy.lost} answers were lost`);
});

test('a stop arrives although its answers get lost', async () => {
  let count = 0;
  await using proxy = await LossyProxy.start(server.url, () => ++count % 2 === 0);
  const worker = await server.router(desk, { server: proxy.url, leaseMs: 10_000 });
  const running = worker.run(desk, { alias: 'lossy-stop', input: null }, (run) => run.root.ask({ key: 'a', reason: 'A?' }));
  const { runId } = await openQuestion(ann, 'lossy-stop');
  await ann.stop(`${runId}/root`, { scope: 'run' });
  await assert.rejects(running, { code: 'stopped' });
  assert.equal((await ann.run(runId)).status, 'paused');
});

test('a run of a worker that lives is not taken away from it', async () => {
  const other = await server.router(desk, { leaseMs: 1_500 });
  const order = { alias: 'owned', input: null };
  const running = other.run(desk, order, (run) => run.root.ask({ key: 'a', reason: 'A?' }));
  const question = await openQuestion(ann, 'owned');
  await assert.rejects(router.run(desk, order, () => assert.fail('it has it')), RunOwned);
  await ann.decide(question, 'approve');
  await running;
});

test('one router does not work twice on one run', async () => {
  const order = { alias: 'once', input: null };
  const running = router.run(desk, order, (run) => run.root.ask({ key: 'a', reason: 'A?' }));
  const question = await openQuestion(ann, 'once');
  await assert.rejects(router.run(desk, order, () => assert.fail('it works on it')), RunOwned);
  await ann.decide(question, 'approve');
  await running;
});

test('a result that the server does not take fails the run', async () => {
  const large = 'x'.repeat(9 << 20);
  await assert.rejects(router.run(desk, { alias: 'large', input: null }, async () => large), Invalid);
  assert.equal((await ann.run('large')).status, 'failed');
});

test('a worker that lost its run writes nothing more, and its code hears of it', async () => {
  const order = { alias: 'lost', input: null };
  let isCut = false;
  const wire: typeof fetch = (...request) => (isCut ? Promise.reject(new TypeError('cut off')) : fetch(...request));
  const slow = await server.router(desk, { leaseMs: 1_000, fetch: wire });
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let reason: unknown;
  const losing = slow.run(desk, order, async (run) => {
    isCut = true;
    await released;
    isCut = false;
    await assert.rejects(run.root.effect('pay', () => assert.fail('it was done')), LeaseLost);
    reason = run.signal.reason;
    return 'of the slow one';
  });
  await eventually(() => isCut, 'the slow worker has the run');
  const winning = router.run(desk, order, async () => {
    release();
    await losing.catch(() => undefined);
    return 'of the fast one';
  });
  assert.equal(await winning, 'of the fast one');
  await assert.rejects(losing, LeaseLost);
  assert.ok(reason instanceof LeaseLost);
});

test('a worker lets its run go when its signal fires, and the next one takes it at once', async () => {
  const order = { alias: 'released', input: null };
  const controller = new AbortController();
  const code: Parameters<typeof router.run<typeof desk, null, string>>[2] = async (run) =>
    routed(await run.root.ask({ key: 'a', reason: 'A?' })).decision.by;
  const leaving = (await server.router(desk, { leaseMs: 60_000 })).run(desk, { ...order, signal: controller.signal }, code);
  const question = await openQuestion(ann, 'released');
  controller.abort();
  await assert.rejects(leaving, Released);
  const begun = performance.now();
  const taking = router.run(desk, order, code);
  await ann.decide(await ann.interrupt(question.id), 'approve');
  assert.equal(await taking, 'ann');
  assert.ok(performance.now() - begun < 30_000);
});

test('a run that the server gives when its worker has just left is let go', async () => {
  const answer = heldBack((request) => request.endsWith('/lease') && request.startsWith('POST'));
  const worker = await server.router(desk, { leaseMs: 60_000, fetch: answer.wire });
  const order = { alias: 'crossed', input: null };
  const controller = new AbortController();
  const leaving = worker.run(desk, { ...order, signal: controller.signal }, () => assert.fail('the answer was held back'));
  await answer.isHeld;
  const { runId } = await ann.run('crossed');
  assert.notEqual(await ownerOf(server, desk.name, runId), undefined);
  controller.abort();
  await assert.rejects(leaving, { name: 'AbortError' });
  assert.equal(await ownerOf(server, desk.name, runId), undefined);
  assert.equal(await router.run(desk, order, async () => 'of the next one'), 'of the next one');
});

test('the last checkpoint is there for the next worker', async () => {
  await router.run(desk, { alias: 'checkpoints', input: null }, async (run) => {
    assert.equal(await run.lastCheckpoint(), null);
    await run.checkpoint({ next_step: 1 }, 'begun');
    await run.checkpoint({ next_step: 2 });
    const last = await run.lastCheckpoint<{ next_step: number }>();
    assert.equal(last?.state.next_step, 2);
    assert.equal(last?.number, 2);
  });
});

test('a stop is carried out although the server dies over it', async () => {
  for (const delay of [5, 15, 25, 35]) {
    let death: Promise<void> | undefined;
    await using proxy = await LossyProxy.start(server.url, ({ url }) => {
      if (url?.includes('/stopped') && death === undefined) death = sleep(delay).then(() => server.kill());
      return false;
    });
    const alias = `died-stopping-${delay}`;
    const worker = await server.router(desk, { server: proxy.url, leaseMs: 10_000 });
    const running = worker.run(desk, { alias, input: null }, (run) => run.root.ask({ key: 'a', reason: 'A?' }));
    running.catch(() => undefined);
    const { runId } = await openQuestion(ann, alias);
    await ann.stop(`${runId}/root`, { scope: 'run' });
    await eventually(() => death !== undefined, 'the worker says that it has stopped');
    await death;
    await server.begin();
    await assert.rejects(running, { code: 'stopped' });
    await eventually(async () => (await ann.run(runId)).status === 'paused', `${alias} is paused`);
  }
});
