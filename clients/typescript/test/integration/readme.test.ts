import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { type DecisionName, type DecisionOptions, Operator } from '../../src/index.js';
import { openQuestion } from '../support/desk.js';
import { BINARY } from '../support/irq-process.js';
import { MortalProcess } from '../support/mortal-process.js';
import { compiled } from '../support/readme.js';

/** What the snippets after the first one take for granted. */
const ASSUMED = `
import { type Agent, type Approved, type Handler, type Router, type Workflow, AlreadyResolved, Operator } from 'interrupt-router';
declare const agent: Agent, router: Router, desk: Workflow, handler: Handler<Workflow, unknown, string>, answer: Approved<'refund', { cents: number }>;
declare const bank: { pay(order: number, cents: number, more: object): Promise<string> };
declare const mail: { send(text: string): Promise<string>; sent(text: string): Promise<string | undefined> };
declare const order: number, cents: number, text: string, url: string, headers: Record<string, string>, signal: AbortSignal;
declare const server: string, token: string, cursor: string, ann: Operator;`;

const VERDICTS: readonly (readonly [decision: DecisionName, options: DecisionOptions, done: string])[] = [
  ['approve', {}, 'paid 1700 cents'],
  ['edit', { request: { cents: 5 } }, 'paid 5 cents'],
  ['reject', {}, 'not paid'],
  ['ignore', {}, 'not paid'],
  ['cancel', {}, 'not paid'],
];

describe('the first snippet of the README runs as it stands', { concurrency: 3 }, () => {
  let program: string;
  before(() => void (program = compiled(ASSUMED)));

  for (const [decision, options, done] of VERDICTS) {
    test(`after ${decision} it says: ${done}`, async () => {
      const home = await mkdtemp(join(tmpdir(), 'irq-readme-'));
      const env = { PATH: process.env['PATH'], HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, IRQ_BINARY: BINARY };
      const desk = new MortalProcess([program], env);
      const [, server = ''] = await desk.tells(/Answer on (http:\/\/[^/]*)\//);
      const token = execFileSync(BINARY, ['token', 'create', '--name', 'ann', '--role', 'supervisor'], { env, encoding: 'utf8' }).trim();
      const ann = new Operator({ server, token });
      const question = await openQuestion(ann, 'ticket-17');
      // Words carry nothing out, so none are asked for.
      assert.deepEqual([question.answerForm, question.allowedDecisions.includes('respond')], ['yes_or_no', false]);
      await ann.decide(question, decision, options);
      const { code, output } = await desk.end();
      assert.deepEqual([code, output.split('\n').at(-2)], [0, done], output);
      await rm(home, { recursive: true, force: true });
    });
  }
});
