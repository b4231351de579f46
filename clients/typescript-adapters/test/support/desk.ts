import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Operator } from 'interrupt-router';
import { MortalProcess } from '../../../typescript/test/support/mortal-process.js';
import { type Answer, FakeModel } from './fake-model.js';
import type { IrqServer } from './irq-server.js';
import { allQuestions, openQuestion } from './people.js';

const HANG = resolve('target/typescript-adapters/test/support/hang.js');

/** What a desk works on, and with which program. */
interface Order {
  readonly ticket: string;
  readonly answers: readonly Answer[];
  readonly program: string;
  readonly more: NodeJS.ProcessEnv;
}

/** A program that is killed at a point and started again, and what it works with. */
export class Desk {
  private readonly processes: MortalProcess[] = [];

  private constructor(
    readonly ticket: string,
    readonly model: FakeModel,
    private readonly person: Operator,
    private readonly args: readonly string[],
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  static async open(server: IrqServer, person: Operator, { ticket, answers, program, more }: Order): Promise<Desk> {
    const model = await FakeModel.start(...answers);
    const token = await server.token('--role', 'worker', '--workflow', more['IRQ_WORKFLOW'] ?? 'desk');
    const ledger = join(server.folder, `${ticket}.jsonl`);
    const base = { PATH: process.env['PATH'], IRQ_SERVER: server.url, IRQ_TOKEN: token, DESK_LEASE: '1' };
    return new Desk(ticket, model, person, [program, ticket], { ...base, MODEL_URL: model.url, LEDGER: ledger, ...more });
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
    const question = await openQuestion(this.person, this.ticket);
    await this.person.decide(question, 'approve');
    return question.id;
  }

  /** It has asked and paid once, and the model was asked so many times. */
  async hasPaidOnce(requests: number): Promise<void> {
    assert.deepEqual(this.ledger, [`["pay","${this.ticket}",12000]`]);
    assert.equal((await allQuestions(this.person, this.ticket)).length, 1);
    assert.equal((await this.person.run(this.ticket)).status, 'completed');
    assert.equal(this.model.asked.length, requests);
    assert.deepEqual(this.model.read, ['paid 12000 cents']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((it) => it.kill()));
    await this.model[Symbol.asyncDispose]();
  }
}
