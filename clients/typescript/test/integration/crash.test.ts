import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Interrupt, Operator } from '../../src/index.js';
import { SEED, chance } from '../support/chance.js';
import { Clerk } from '../support/clerk.js';
import { eventually } from '../support/eventually.js';
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

before(() => console.log(`CRASH_SEED=${SEED} CRASHES=${CRASHES}`));

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
  const random = chance('desk');
  const answering = clerk.answer();
  const deaths = { worker: 0, server: 0 };
  const tickets: string[] = [];
  while (deaths.worker + deaths.server < CRASHES) {
    const ticket = String(FIRST_ORDER + tickets.length);
    tickets.push(ticket);
    let desk = new MortalProcess([DESK, ticket], env);
    for (;;) {
      const pause = sleep(random() * (random() < 0.5 ? USUAL_MS : LONGEST_MS), undefined);
      const end = await Promise.race([desk.ended, pause]);
      if (end !== undefined) {
        assert.equal(end.code, 0, end.output);
        assert.match(end.output, new RegExp(`^order ${ticket}: (paid back|objected|filed)`, 'm'));
        break;
      }
      if (deaths.worker + deaths.server >= CRASHES) continue;
      if (random() < 0.5) {
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
  t.diagnostic(`CRASH_SEED=${SEED}: ${tickets.length} tickets, ${deaths.worker} workers and ${deaths.server} servers killed, ${asked} questions`);
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

/** A person who writes to the agent before each answer. */
async function answers(operator: Operator, made: Map<string, string>, isOver: () => boolean): Promise<void> {
  const random = chance('person');
  while (!isOver()) {
    for await (const { id, agentId, reason } of operator.interrupts()) {
      if (made.has(id)) continue;
      await sleep(random() * 400);
      await operator.send(agentId, reason, { key: id });
      made.set(id, (await operator.decide(await operator.interrupt(id), 'approve', { key: id })).decisionId);
    }
    await sleep(20);
  }
}

test(`code that wraps what it calls loses nothing over ${CRASHES} deaths and ends`, { timeout: 60_000 + CRASHES * 20_000 }, async (t) => {
  await using server = await IrqServer.start();
  const token = await server.token('--role', 'worker', '--workflow', 'wrapping');
  const env = { PATH: process.env['PATH'], IRQ_SERVER: server.url, IRQ_TOKEN: token, LEDGER: join(server.folder, 'ledger') };
  const call = async (method: string, path: string, body?: object): Promise<any> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${server.url}/v1/${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    assert.ok(response.ok, `${path}: ${response.status}`);
    return response.json();
  };
  const begin = (): MortalProcess => new MortalProcess([resolve('target/test/support/wrapping.js')], env);
  const lines = (): string[] => (existsSync(env.LEDGER) ? readFileSync(env.LEDGER, 'utf8').trim().split('\n') : []);
  const ann = new Operator({ server: server.url, token: await server.token('--role', 'supervisor', '--name', 'ann') });
  const random = chance('wrapping');
  const made = new Map<string, string>();
  const ended = { SIGKILL: 0, SIGTERM: 0, server: 0 };
  const tickets: string[] = [];
  let isOver = false;
  const answering = answers(ann, made, () => isOver);
  let worker = begin();
  while (ended.SIGKILL + ended.SIGTERM + ended.server < CRASHES) {
    if (tickets.every((it) => lines().includes(`odd ${it}`))) {
      for (const ticket of [0, 1, 2].map((it) => `order-${tickets.length + it}`)) {
        const create = (): Promise<unknown> => call('POST', 'workflows/wrapping/runs', { input: ticket, thread_id: ticket });
        await eventually(() => create().catch(() => undefined), 'the worker has registered its workflow');
        tickets.push(ticket);
      }
    }
    await sleep(random() * 1_500);
    const victim = (['SIGKILL', 'SIGTERM', 'server'] as const)[Math.floor(random() * 3)] ?? 'server';
    ended[victim]++;
    if (victim === 'server') {
      await server.kill();
      await server.begin();
    } else {
      const { code, signal, output } = await worker.kill(victim);
      assert.deepEqual([code, signal], [null, victim], output);
      worker = begin();
    }
  }
  for (const ticket of tickets) {
    const { runId } = await eventually(async () => {
      const run = await ann.run(ticket);
      return ['completed', 'failed', 'cancelled'].includes(run.status) && run;
    }, `${ticket} ends`);
    const { state, result } = await call('GET', `work/${runId}`);
    const asked: Interrupt[] = [];
    for await (const it of ann.interrupts({ status: 'resolved', runId })) if (it.type === 'HUMAN_REVIEW') asked.push(it);
    asked.sort((one, other) => one.reason.localeCompare(other.reason));
    assert.deepEqual({ state, ...result }, { state: 'completed', decided: asked.map((it) => made.get(it.id)), read: ['Round 0?', 'Round 1?'] }, ticket);
  }
  isOver = true;
  await answering;
  await worker.kill();
  assert.deepEqual(lines().sort(), tickets.flatMap((it) => ['pay-0', 'pay-1', 'odd'].map((what) => `${what} ${it}`)).sort());
  t.diagnostic(`CRASH_SEED=${SEED}: ${tickets.length} runs, ended ${JSON.stringify(ended)}, ${made.size} questions`);
});
