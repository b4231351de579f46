import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Interrupt, Operator } from '../../src/index.js';
import { Clerk } from '../support/clerk.js';
import { IrqServer } from '../support/irq-server.js';
import { MortalProcess } from '../support/mortal-process.js';

const CRASHES = Number(process.env['CRASHES'] ?? 12);
const DESK = resolve('target/example/desk.js');
/** A worker is done within this time. */
const USUAL_MS = 1_500;
/** One that takes over from a dead one, whose lease is a second, within this. */
const LONGEST_MS = 2_500;
/** An order from this one on costs so much that a person is asked before it is paid back. */
const FIRST_ORDER = 200;

/** What a ticket's run came to, and what is written of it outside. */
interface Ticket {
  readonly lines: readonly string[];
  readonly payments: number;
  readonly questions: readonly Interrupt[];
}

test(`nothing is lost and nothing is done twice over ${CRASHES} deaths of workers and servers`, { timeout: 60_000 + CRASHES * 20_000 }, async (t) => {
  await using server = await IrqServer.start();
  const ledger = join(server.folder, 'ledger.jsonl');
  const token = await server.token('--role', 'worker', '--workflow', 'desk');
  const env = { PATH: process.env['PATH'], IRQ_SERVER: server.url, IRQ_TOKEN: token, DESK_LEDGER: ledger, DESK_LEASE: '1' };
  const ann = new Operator({ server: server.url, token: await server.token('--role', 'reviewer', '--name', 'ann') });
  const clerk = new Clerk(ann);
  const answering = clerk.answer();
  const deaths = { worker: 0, server: 0 };
  const tickets: string[] = [];
  while (deaths.worker + deaths.server < CRASHES) {
    const ticket = String(FIRST_ORDER + tickets.length);
    tickets.push(ticket);
    let desk = new MortalProcess([DESK, ticket], env);
    for (;;) {
      const pause = sleep(Math.random() * (Math.random() < 0.5 ? USUAL_MS : LONGEST_MS), undefined);
      const end = await Promise.race([desk.ended, pause]);
      if (end !== undefined) {
        assert.equal(end.code, 0, end.output);
        assert.match(end.output, new RegExp(`^order ${ticket}: (paid back|objected|filed)`, 'm'));
        break;
      }
      if (deaths.worker + deaths.server >= CRASHES) continue;
      if (Math.random() < 0.5) {
        await desk.kill();
        // It may have ended just before.
        if ((await desk.ended).signal === 'SIGKILL') deaths.worker++;
        desk = new MortalProcess([DESK, ticket], env);
      } else {
        await server.kill();
        deaths.server++;
        await server.begin();
      }
    }
  }
  clerk.leave();
  await answering;
  const paid = existsSync(ledger) ? await readFile(ledger, 'utf8') : '';
  let asked = 0;
  for (const order of tickets) {
    const ticket = await look(ann, order, paid, env);
    check(clerk, order, ticket);
    asked += ticket.questions.length;
  }
  assert.equal(clerk.accepted.size, asked);
  t.diagnostic(`${tickets.length} tickets, ${deaths.worker} workers and ${deaths.server} servers killed, ${asked} questions`);
});

async function look(ann: Operator, order: string, paid: string, env: Readonly<Record<string, string | undefined>>): Promise<Ticket> {
  const { runId, status } = await ann.run(`order-${order}`);
  assert.equal(status, 'completed', order);
  const questions = [];
  for (const status of ['live', 'resolved', 'expired', 'cancelled'] as const) {
    for await (const it of ann.interrupts({ status, runId })) questions.push(it);
  }
  const headers = { authorization: `Bearer ${env['IRQ_TOKEN']}` };
  const work = (await (await fetch(`${env['IRQ_SERVER']}/v1/work/${runId}`, { headers })).json()) as { result: { lines: string[] } };
  return { lines: work.result.lines, payments: paid.split(` for order ${order} (`).length - 1, questions };
}

function check(clerk: Clerk, order: string, { lines, payments, questions }: Ticket): void {
  const targets = questions.map((question) => {
    const accepted = clerk.accepted.get(question.id);
    assert.ok(accepted !== undefined, `the question of ${question.agentType} about ${order} was answered by the clerk`);
    assert.equal(question.decision?.decisionId, accepted.record.decisionId, `the decision about ${order} is the one that was accepted`);
    return `${question.agentType} to ${question.decision?.target}`;
  });
  const [line] = lines;
  switch (targets.join(', ')) {
    case 'ORCHESTRATOR to LEGAL':
      assert.match(line ?? '', /^objected: .*In their words: matter \d+$/s);
      break;
    case 'ORCHESTRATOR to REFUNDS, REFUNDS to ARCHIVE':
      assert.match(line ?? '', /^filed: /);
      break;
    default:
      assert.deepEqual(targets, ['ORCHESTRATOR to REFUNDS', 'REFUNDS to REFUNDS'], `each is asked once about ${order}`);
      assert.equal(line, `paid back ${Number(order) * 100} cents for order ${order}`);
      assert.equal(payments, 1, order);
      return;
  }
  assert.equal(payments, 0, order);
}
