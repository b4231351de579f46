import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import type { Operator } from 'interrupt-router';
import { eventually } from '../../../typescript/test/support/eventually.js';
import { Desk } from '../support/desk.js';
import { type Answer, call, calls, says, silent } from '../support/fake-model.js';
import { IrqServer } from '../support/irq-server.js';
import { allQuestions, openQuestion } from '../support/people.js';

const EXAMPLE = resolve('target/example/ai-sdk-refund.js');
const SAMPLE = resolve('target/typescript-adapters/test/support/sample-process.js');
const REFUND = calls(call('call-1', 'refund', { cents: 12_000 }));
const DONE = says('120 € are paid back.');

let server: IrqServer;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

function open(ticket: string, answers: readonly Answer[], program = EXAMPLE, more: NodeJS.ProcessEnv = {}): Promise<Desk> {
  return Desk.open(server, ann, { ticket, answers, program, more });
}

/** Starts the program again, which ends with nothing asked, paid or said twice. */
async function end(desk: Desk, requests: number): Promise<void> {
  const { code, output } = await desk.start().end();
  assert.equal(code, 0, output);
  assert.equal(output, `${desk.ticket}: 120 € are paid back.\n`);
  await desk.hasPaidOnce(requests);
}

test('a process that dies while its approval is open goes on with what was decided meanwhile', async () => {
  await using desk = await open('open', [REFUND, DONE]);
  const first = desk.start();
  const question = await openQuestion(ann, 'open');
  assert.equal((await first.kill()).signal, 'SIGKILL');
  assert.equal(await desk.approve(), question.id);
  await end(desk, 2);
});

test('a process that dies while its approval is open finds the same question still open', async () => {
  await using desk = await open('again', [REFUND, DONE]);
  const first = desk.start();
  const question = await openQuestion(ann, 'again');
  await first.kill();
  const second = desk.start('asked');
  await second.says('waits');
  assert.equal(await desk.approve(), question.id);
  await second.says('at asked');
  await second.kill();
  assert.deepEqual(desk.ledger, []);
  await end(desk, 2);
});

for (const [point, when] of [
  ['executed', 'after a tool was executed, and before that is kept, looks whether it happened'],
  ['kept', 'between the execution of a tool and the next call of the model does not execute it again'],
] as const) {
  test(`a process that dies ${when}`, async () => {
    await using desk = await open(point, [REFUND, DONE]);
    const first = desk.start(point);
    await desk.approve();
    await first.says(`at ${point}`);
    assert.equal((await first.kill()).signal, 'SIGKILL');
    assert.deepEqual([desk.ledger.length, desk.model.asked.length], [1, 1]);
    await end(desk, 2);
  });
}

test('a process that dies while the model answers asks it once more', async () => {
  await using desk = await open('answering', [REFUND, silent, DONE]);
  const first = desk.start();
  await desk.approve();
  await eventually(() => desk.model.asked.length === 2, 'the model is asked');
  await first.kill();
  await end(desk, 3);
});

test('the sample of the SDK survives its process with its import changed and its run named', async () => {
  const answers = [calls(call('call-1', 'runCommand', { command: 'rm new.txt' })), says('Removed.')];
  const env = { IRQ_RUN: 'sample', IRQ_WORKFLOW: 'scripts', IRQ_LEASE_MS: '1000' };
  await using desk = await open('sample', answers, SAMPLE, env);
  const first = desk.start();
  const question = await openQuestion(ann, 'sample');
  await first.kill();
  assert.equal(await desk.approve(), question.id);
  const { code, output } = await desk.start().end();
  assert.equal(code, 0, output);
  assert.equal(output, "[ 'Removed.', 'Removed.' ]\n");
  assert.deepEqual([desk.ledger, desk.model.asked.length], [['rm new.txt'], 2]);
  assert.equal((await allQuestions(ann, 'sample')).length, 1);
  // It has ended, so there is nothing to go on with.
  const late = await desk.start().end();
  assert.equal(late.code, 1);
  assert.match(late.output, /the run sample was completed before\n\(give IRQ_RUN another name to begin anew\)/);
});
