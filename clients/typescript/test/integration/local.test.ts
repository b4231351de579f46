import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { Router, RouterError } from '../../src/index.js';
import { desk, openQuestion, routed } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { BINARY } from '../support/irq-process.js';
import { MortalProcess } from '../support/mortal-process.js';

let home: string;

before(async () => {
  home = await mkdtemp(join(tmpdir(), 'irq-local-'));
  Object.assign(process.env, { IRQ_BINARY: BINARY, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home });
});
after(() => rm(home, { recursive: true, force: true }));

/** The processes that serve a store. */
function serving(store: string): number[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args=']).toString().split('\n');
  return lines.filter((it) => it.includes(store) && it.includes(' serve ') && !it.includes('/bin/sh')).map((it) => Number(it.trim().split(' ')[0]));
}

test('a router starts a server of its own, works there, and outlives its death', async () => {
  const store = join(home, 'works.db');
  const router = await Router.local({ store, leaseMs: 3_000 });
  const { server } = router;
  assert.ok(server !== undefined);
  assert.ok(server.link.startsWith(`${server.address}/`), server.link);
  const ann = server.operator('ann', 'reviewer');
  const running = router.run(desk, { alias: 'local', input: null }, async ({ root }) => routed(await root.ask({ key: 'a', reason: 'A?' })).decision.by);
  running.catch(() => undefined);
  await openQuestion(ann, 'local');
  const [first = 0] = serving(store);
  process.kill(first, 'SIGKILL');
  await eventually(() => serving(store).some((it) => it !== first), 'it is started again');
  await ann.decide(await openQuestion(ann, 'local'), 'approve');
  assert.equal(await running, 'ann');
  await server.close();
  assert.deepEqual(serving(store), []);
});

for (const how of ['SIGTERM', 'SIGINT', 'SIGKILL', 'its end'] as const) {
  test(`the server ends with its process by ${how}`, async () => {
    const store = join(home, `${how}.db`);
    const isKilled = how !== 'its end';
    const program = new MortalProcess([resolve('target/test/support/local.js'), store, ...(isKilled ? ['stays'] : [])], process.env);
    await program.tells(/serves on http/);
    assert.deepEqual([serving(store).length, (isKilled ? await program.kill(how) : await program.end()).code], [1, isKilled ? null : 0]);
    await eventually(() => serving(store).length === 0, 'the server has ended');
  });
}

test('a server that cannot start says why', async () => {
  const store = join(home, 'broken.db');
  await writeFile(store, 'this is no database, and long enough to be taken for one'.repeat(50));
  await assert.rejects(Router.local({ store }), (error) => error instanceof RouterError && error.code === 'server-failed' && /broken\.db|database/.test(error.detail));
  await assert.rejects(Router.local({ binary: '/no/such/irq' }), /`irq serve` did not start: .*no\/such\/irq[^]*IRQ_BINARY/);
});
