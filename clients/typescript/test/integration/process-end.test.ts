import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Operator, Workflow } from '../../src/index.js';
import { openQuestion } from '../support/desk.js';
import { IrqServer } from '../support/irq-server.js';
import { type End, MortalProcess } from '../support/mortal-process.js';
import { ownerOf } from '../support/owner.js';

const PROGRAM = resolve('target/test/support/draining.js');

let server: IrqServer;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

/** Tells a worker to end within its effect. */
async function told(mode: string, alias: string, signal: NodeJS.Signals): Promise<End> {
  const token = await server.token('--role', 'worker', '--workflow', alias);
  const env = { PATH: process.env['PATH'], IRQ_SERVER: server.url, IRQ_TOKEN: token, LEDGER: join(server.folder, alias) };
  const worker = new MortalProcess([PROGRAM, mode, alias], env);
  await worker.says('pays');
  return worker.kill(signal);
}

/** The effect was done, the run is free at once, and the next worker does nothing again. */
async function isWhole(alias: string): Promise<void> {
  assert.equal(readFileSync(join(server.folder, alias), 'utf8'), 'paid\n');
  const { runId } = await ann.run(alias);
  assert.equal(await ownerOf(server, alias, runId), undefined);
  const workflow = new Workflow(alias, { kinds: { CLERK: null } });
  const running = (await server.router(workflow)).run(workflow, { alias, input: null }, async ({ root }) => {
    const paid = await root.effect('pay', () => assert.fail('it is done again'));
    await root.ask({ key: 'a', reason: 'A?' });
    return paid;
  });
  running.catch(() => undefined);
  await ann.decide(await openQuestion(ann, alias), 'approve');
  assert.equal(await running, 'paid');
}

describe('a worker that is told to end lets its effect end and its runs go', { concurrency: true }, () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    for (const mode of ['run', 'work']) {
      test(`${mode}: ${signal} ends the process then`, async () => {
        const alias = `${mode}-${signal}`;
        const { signal: by, code, output } = await told(mode, alias, signal);
        assert.deepEqual([by, code], [signal, null], output);
        await isWhole(alias);
      });
    }
  }

  test('a program that listens itself goes on', async () => {
    const { code, output } = await told('listens', 'listens', 'SIGTERM');
    assert.equal(code, 3);
    assert.match(output, /told\n[^]*Released: the worker ends/);
    await isWhole('listens');
  });
});
