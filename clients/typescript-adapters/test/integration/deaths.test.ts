import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import type { Operator } from 'interrupt-router';
import { eventually } from '../../../typescript/test/support/eventually.js';
import { type Answer, FakeModel, call, calls, says, silent } from '../support/fake-model.js';
import { IrqServer } from '../support/irq-server.js';
import { MortalProcess } from '../../../typescript/test/support/mortal-process.js';
import { allQuestions, openQuestion } from '../support/people.js';

const EXAMPLE = resolve('target/example/ai-sdk-refund.js');
const SAMPLE = resolve('target/typescript-adapters/test/support/sample-process.js');
const HANG = resolve('target/typescript-adapters/test/support/hang.js');
const REFUND = calls(call('call-1', 'refund', { cents: 12_000 }));
const DONE = says('120 € are paid back.');

let server: IrqServer;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

/** A program that is killed at a point and started again, and what it works with. */
class Desk {
  private readonly processes: MortalProcess[] = [];

  private constructor(
    readonly ticket: string,
    readonly model: FakeModel,
    private readonly args: readonly string[],
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async open(ticket: string, answers: readonly Answer[], program = EXAMPLE, more: NodeJS.ProcessEnv = {}): Promise<Desk> {
    const model = await FakeModel.start(...answers);
    const token = await server.token('--role', 'worker', '--workflow', more['IRQ_WORKFLOW'] ?? 'desk');
    const ledger = join(server.folder, `${ticket}.jsonl`);
    const base = { PATH: process.env['PATH'], IRQ_SERVER: server.url, IRQ_TOKEN: token, DESK_LEASE: '1' };
    return new Desk(ticket, model, [program, ticket], { ...base, MODEL_URL: model.url, LEDGER: ledger, ...more });
  }

  /** Starts the program; it goes no further than the point. */
  start(point?: 'asked' | 'executed' | 'kept'): MortalProcess {
    const process = new MortalProcess(['--import', HANG, ...this.args], { ...this.env, ...(point !== undefined && { HANG: point }) });
    this.processes.push(process);
    return process;
  }

  /** What has happened. */
  get ledger(): string[] {
    const path = this.env['LEDGER'] ?? '';
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  }

  async approve(): Promise<string> {
    const question = await openQuestion(ann, this.ticket);
    await ann.decide(question, 'approve');
    return question.id;
  }

  /** Starts the program again, which ends with nothing asked, paid or said twice. */
  async end(requests: number): Promise<void> {
    const { code, output } = await this.start().end();
    assert.equal(code, 0, output);
    assert.equal(output, `${this.ticket}: 120 € are paid back.\n`);
    assert.deepEqual(this.ledger, [`["pay","${this.ticket}",12000]`]);
    assert.equal((await allQuestions(ann, this.ticket)).length, 1);
    assert.equal((await ann.run(this.ticket)).status, 'completed');
    assert.equal(this.model.asked.length, requests);
    assert.deepEqual(this.model.read, ['paid 12000 cents']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((it) => it.kill()));
    await this.model[Symbol.asyncDispose]();
  }
}

test('a process that dies while its approval is open goes on with what was decided meanwhile', async () => {
  await using desk = await Desk.open('open', [REFUND, DONE]);
  const first = desk.start();
  const question = await openQuestion(ann, 'open');
  assert.ok((await first.kill()).wasKilled);
  assert.equal(await desk.approve(), question.id);
  await desk.end(2);
});

test('a process that dies while its approval is open finds the same question still open', async () => {
  await using desk = await Desk.open('again', [REFUND, DONE]);
  const first = desk.start();
  const question = await openQuestion(ann, 'again');
  await first.kill();
  const second = desk.start('asked');
  await second.says('waits');
  assert.equal(await desk.approve(), question.id);
  await second.says('at asked');
  await second.kill();
  assert.deepEqual(desk.ledger, []);
  await desk.end(2);
});

for (const [point, when] of [
  ['executed', 'after a tool was executed, and before that is kept, looks whether it happened'],
  ['kept', 'between the execution of a tool and the next call of the model does not execute it again'],
] as const) {
  test(`a process that dies ${when}`, async () => {
    await using desk = await Desk.open(point, [REFUND, DONE]);
    const first = desk.start(point);
    await desk.approve();
    await first.says(`at ${point}`);
    assert.ok((await first.kill()).wasKilled);
    assert.deepEqual([desk.ledger.length, desk.model.asked.length], [1, 1]);
    await desk.end(2);
  });
}

test('a process that dies while the model answers asks it once more', async () => {
  await using desk = await Desk.open('answering', [REFUND, silent, DONE]);
  const first = desk.start();
  await desk.approve();
  await eventually(() => desk.model.asked.length === 2, 'the model is asked');
  await first.kill();
  await desk.end(3);
});

test('the sample of the SDK survives its process with its import changed and its run named', async () => {
  const answers = [calls(call('call-1', 'runCommand', { command: 'rm new.txt' })), says('Removed.')];
  const env = { IRQ_RUN: 'sample', IRQ_WORKFLOW: 'scripts', IRQ_LEASE_MS: '1000' };
  await using desk = await Desk.open('sample', answers, SAMPLE, env);
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
