import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { desk, openQuestion } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { IrqServer } from '../support/irq-server.js';

describe('a wait of more than a second says what it is for', { concurrency: true }, () => {
  test('a person', async () => {
    await using server = await IrqServer.start();
    const said: string[] = [];
    const router = await server.router(desk, { onWait: (what) => said.push(what) });
    const running = router.run(desk, { alias: 'asks', input: null }, ({ root }) => root.ask({ key: 'a', reason: 'Go on?' }).then(() => 'answered'));
    await eventually(() => said.length > 0, 'it says what it waits for');
    const ann = await server.operator('ann');
    await ann.decide(await openQuestion(ann, 'asks'), 'approve');
    assert.equal(await running, 'answered');
    assert.deepEqual(said, ['root waits for a person: Go on?']);
  });

  test('the lease of a worker that has died', async () => {
    await using server = await IrqServer.start();
    let isDead = false;
    const wire: typeof fetch = (...request) => (isDead ? new Promise<never>(() => undefined) : fetch(...request));
    const dying = await server.router(desk, { worker: 'mortal', leaseMs: 4_000, fetch: wire });
    void dying.run(desk, { alias: 'died', input: null }, () => ((isDead = true), new Promise(() => undefined)));
    await eventually(() => isDead, 'the worker dies');
    const said: string[] = [];
    const router = await server.router(desk, { onWait: (what) => said.push(what) });
    assert.equal(await router.run(desk, { alias: 'died', input: null }, async () => 'taken'), 'taken');
    assert.equal(said.length, 1);
    assert.match(said[0] ?? '', /^the run run_\w+ belongs to mortal-\w+; if that worker has died, it is free at 20/);
  });
});
