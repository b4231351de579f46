import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Operator, type Run, Workflow, closed } from '../../src/index.js';
import { openQuestion, routed } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { heldBack } from '../support/held-back.js';
import { IrqServer } from '../support/irq-server.js';
import { ownerOf } from '../support/owner.js';

let server: IrqServer;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

function workflow(name: string): Workflow<'CLERK', { note: ReturnType<typeof noteSchema> }> {
  return new Workflow(name, { kinds: { CLERK: 'note' }, routes: { note: noteSchema() } });
}

function noteSchema() {
  return closed({ text: { type: 'string', maxLength: 100 } });
}

/** Creates runs without working on them. */
async function create(name: string, ...aliases: string[]): Promise<void> {
  const token = await server.token('--role', 'worker', '--workflow', name);
  for (const alias of aliases) {
    const response = await fetch(`${server.url}/v1/workflows/${name}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: { alias }, thread_id: alias }),
    });
    assert.equal(response.status, 201);
  }
}

async function statusOf(alias: string): Promise<string> {
  return (await ann.run(alias)).status;
}

test('workers take runs as they come, several at once, until they are told to end', async () => {
  const clerks = workflow('clerks');
  const router = await server.router(clerks);
  await router.register(clerks);
  await create('clerks', 'clerk-1', 'clerk-2', 'clerk-3');
  const controller = new AbortController();
  let [now, most] = [0, 0];
  const working = router.work(
    clerks,
    async (run: Run<typeof clerks, { alias: string }>) => {
      most = Math.max(most, ++now);
      await run.root.effect('write', () => eventually(() => most === 2, 'two work at once'));
      now--;
      return run.input.alias;
    },
    { workers: 2, signal: controller.signal },
  );
  for (const alias of ['clerk-1', 'clerk-2', 'clerk-3']) await eventually(async () => (await statusOf(alias)) === 'completed', alias);
  await create('clerks', 'clerk-4');
  await eventually(async () => (await statusOf('clerk-4')) === 'completed', 'a run that comes later');
  controller.abort();
  await working;
  assert.equal(most, 2);
});

test('a run that waits for a person is put aside, and taken again with the answer', async () => {
  const parked = workflow('parked');
  const router = await server.router(parked);
  await router.register(parked);
  await create('parked', 'waits', 'passes');
  const controller = new AbortController();
  const begun: string[] = [];
  const working = router.work(
    parked,
    async (run: Run<typeof parked, { alias: string }>) => {
      begun.push(run.input.alias);
      if (run.input.alias === 'passes') return 'passed';
      return routed(await run.root.ask({ key: 'a', reason: 'A?' })).decision.by;
    },
    { workers: 1, parkAfterMs: 300, signal: controller.signal },
  );
  const question = await openQuestion(ann, 'waits');
  await eventually(async () => (await statusOf('waits')) === 'waiting', 'the run rests');
  await eventually(async () => (await statusOf('passes')) === 'completed', 'the one worker works on the other run');
  assert.deepEqual(begun, ['waits', 'passes']);
  await ann.decide(question, 'approve');
  await eventually(async () => (await statusOf('waits')) === 'completed', 'the run goes on');
  assert.deepEqual(begun, ['waits', 'passes', 'waits']);
  controller.abort();
  await working;
});

test('a worker takes no run that needs what it lacks', async () => {
  const labelled = workflow('labelled');
  const without = await server.router(labelled);
  const code = async (run: Run<typeof labelled, { alias: string }>): Promise<string> => run.input.alias;
  const large = { alias: 'large', input: { alias: 'large' }, needs: ['gpu'] };
  await assert.rejects(without.run(labelled, large, code), /labels.*gpu/);
  const controller = new AbortController();
  const working = without.work(labelled, code, { signal: controller.signal });
  await create('labelled', 'plain');
  await eventually(async () => (await statusOf('plain')) === 'completed', 'the run that needs nothing');
  assert.equal(await statusOf('large'), 'created');
  controller.abort();
  await working;
  const having = await server.router(labelled, { labels: ['gpu', 'tools'] });
  assert.equal(await having.run(labelled, large, code), 'large');
});

test('a run that fails is told, and the next one is taken', async () => {
  const failing = workflow('failing');
  const router = await server.router(failing);
  await router.register(failing);
  await create('failing', 'fails', 'works');
  const controller = new AbortController();
  const failures: string[] = [];
  const working = router.work(
    failing,
    async (run: Run<typeof failing, { alias: string }>) => {
      if (run.input.alias === 'fails') throw new Error('no ink');
      return 1;
    },
    { workers: 1, signal: controller.signal, onFailure: (error, run) => failures.push(`${run.threadId}: ${String(error)}`) },
  );
  await eventually(async () => (await statusOf('works')) === 'completed', 'the second run');
  assert.deepEqual(failures, ['fails: Error: no ink']);
  assert.equal(await statusOf('fails'), 'failed');
  controller.abort();
  await working;
});

test('a paused run is taken again when a person has resumed and answered it', async () => {
  const pausing = workflow('pausing');
  const router = await server.router(pausing);
  await router.register(pausing);
  await create('pausing', 'pauses');
  const controller = new AbortController();
  const code = async (run: Run<typeof pausing>): Promise<string> => routed(await run.root.ask({ key: 'a', reason: 'A?' })).decision.by;
  const working = router.work(pausing, code, { workers: 1, signal: controller.signal });
  const question = await openQuestion(ann, 'pauses');
  await ann.stop(`${question.runId}/root`, { scope: 'run' });
  await eventually(async () => (await statusOf('pauses')) === 'paused', 'the run is paused');
  await ann.resume('pauses');
  await ann.decide(await ann.interrupt(question.id), 'approve');
  await eventually(async () => (await statusOf('pauses')) === 'completed', 'the run is completed');
  controller.abort();
  await working;
});

test('runs under way are let go when the worker ends, for the next one', async () => {
  const leaving = workflow('leaving');
  const router = await server.router(leaving, { leaseMs: 60_000 });
  await router.register(leaving);
  await create('leaving', 'left');
  const controller = new AbortController();
  const code = async (run: Run<typeof leaving>): Promise<string> => routed(await run.root.ask({ key: 'a', reason: 'A?' })).decision.by;
  const first = router.work(leaving, code, { signal: controller.signal });
  const question = await openQuestion(ann, 'left');
  controller.abort();
  await first;
  assert.equal(await statusOf('left'), 'running');
  assert.equal(await ownerOf(server, 'leaving', question.runId), undefined);
  const again = new AbortController();
  const second = (await server.router(leaving)).work(leaving, code, { signal: again.signal });
  await ann.decide(await ann.interrupt(question.id), 'approve');
  await eventually(async () => (await statusOf('left')) === 'completed', 'the next worker completes it');
  again.abort();
  await second;
});

test('a run that the server gives at the moment when the worker ends is let go, and before those under way', async () => {
  const crossing = workflow('crossing');
  const released: string[] = [];
  let takings = 0;
  const answer = heldBack((request) => {
    const letGo = /^DELETE .*\/work\/(\w+)\/lease/.exec(request)?.[1];
    if (letGo !== undefined) released.push(letGo);
    return request.includes('/leases') && ++takings === 2;
  });
  const router = await server.router(crossing, { leaseMs: 60_000, fetch: answer.wire });
  await router.register(crossing);
  await create('crossing', 'one', 'other');
  const controller = new AbortController();
  const begun: string[] = [];
  const code = async (run: Run<typeof crossing>): Promise<void> => {
    begun.push(run.id);
    await run.root.ask({ key: 'a', reason: 'A?' });
  };
  const working = router.work(crossing, code, { workers: 2, signal: controller.signal });
  await answer.isHeld;
  await eventually(() => begun.length === 1, 'the worker works on one of the runs');
  const runs = await Promise.all(['one', 'other'].map(async (alias) => (await ann.run(alias)).runId));
  const owners = (): Promise<(string | undefined)[]> => Promise.all(runs.map((run) => ownerOf(server, 'crossing', run)));
  assert.ok((await owners()).every((owner) => owner !== undefined));
  controller.abort();
  await working;
  assert.deepEqual(await owners(), [undefined, undefined]);
  assert.deepEqual(released, [...runs.filter((run) => run !== begun[0]), ...begun]);
});

test('a worker ends soon although its server is gone', async () => {
  await using gone = await IrqServer.start();
  const orphans = workflow('orphans');
  let isTaking = false;
  const wire: typeof fetch = (...request) => {
    isTaking ||= String(request[0]).includes('/leases');
    return fetch(...request);
  };
  const router = await gone.router(orphans, { fetch: wire, patienceMs: 300_000 });
  const controller = new AbortController();
  const working = router.work(orphans, () => assert.fail('there is no run'), { signal: controller.signal });
  await eventually(() => isTaking, 'the worker waits for runs');
  await gone.kill();
  const begun = performance.now();
  controller.abort();
  await working;
  assert.ok(performance.now() - begun < 20_000);
});
