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
const USUAL_MS = 500;
/** One that takes over from a dead one, whose lease is a second, within this. */
const LONGEST_MS = 1_500;

/** What a ticket's run came to, and what is written of it outside. */
interface Ticket {
  readonly result: unknown;
  readonly effects: readonly unknown[][];
  readonly questions: readonly Interrupt[];
}

test(`nothing is lost and nothing is done twice over ${CRASHES} deaths of workers and servers`, { timeout: 60_000 + CRASHES * 20_000 }, async (t) => {
  await using server = await IrqServer.start();
  const ledger = join(server.folder, 'ledger.jsonl');
  const token = await server.token('--role', 'worker', '--workflow', 'desk');
  const env = { PATH: process.env['PATH'], IRQ_SERVER: server.url, IRQ_TOKEN: token, LEDGER: ledger, DESK_LEASE: '1' };
  const ann = new Operator({ server: server.url, token: await server.token('--role', 'reviewer', '--name', 'ann') });
  const clerk = new Clerk(ann);
  const answering = clerk.answer();
  const deaths = { worker: 0, server: 0 };
  const tickets: string[] = [];
  while (deaths.worker + deaths.server < CRASHES) {
    const ticket = `ticket-${tickets.length + 1}`;
    tickets.push(ticket);
    let desk = new MortalProcess([DESK, ticket], env);
    for (;;) {
      const pause = sleep(Math.random() * (Math.random() < 0.5 ? USUAL_MS : LONGEST_MS), undefined);
      const end = await Promise.race([desk.ended, pause]);
      if (end !== undefined) {
        assert.equal(end.code, 0, end.output);
        assert.match(end.output, new RegExp(`^${ticket}: { paid: \\d+ }$`, 'm'));
        break;
      }
      if (deaths.worker + deaths.server >= CRASHES) continue;
      if (Math.random() < 0.5) {
        await desk.kill();
        // It may have ended just before.
        if ((await desk.ended).wasKilled) deaths.worker++;
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
  const lines = existsSync(ledger) ? (await readFile(ledger, 'utf8')).split('\n').filter(Boolean) : [];
  const effects = lines.map((line) => JSON.parse(line) as unknown[]);
  for (const name of tickets) check(clerk, name, await look(ann, name, effects, env));
  assert.equal(clerk.accepted.size, tickets.length);
  t.diagnostic(`${tickets.length} tickets, ${deaths.worker} workers and ${deaths.server} servers killed, ${effects.length} effects`);
});

async function look(ann: Operator, ticket: string, effects: readonly unknown[][], env: Readonly<Record<string, string | undefined>>): Promise<Ticket> {
  const { runId, status } = await ann.run(ticket);
  assert.equal(status, 'completed', ticket);
  const questions = [];
  for (const status of ['live', 'resolved', 'expired', 'cancelled']) {
    for await (const it of ann.interrupts({ status, runId })) questions.push(it);
  }
  const headers = { authorization: `Bearer ${env['IRQ_TOKEN']}` };
  const work = (await (await fetch(`${env['IRQ_SERVER']}/v1/work/${runId}`, { headers })).json()) as { result: unknown };
  return { result: work.result, effects: effects.filter(([, of]) => of === ticket), questions };
}

function check(clerk: Clerk, name: string, { result, effects, questions }: Ticket): void {
  assert.equal(questions.length, 1, `${name} asks once`);
  const [question] = questions;
  const accepted = clerk.accepted.get(question?.id ?? '');
  assert.ok(accepted !== undefined, `the question of ${name} was answered by the clerk`);
  const { record, say } = accepted;
  assert.equal(question?.decision?.decisionId, record.decisionId, `the decision about ${name} is the one that was accepted`);
  const cents = say.options.request?.['cents'] ?? 12_000;
  const [found, second, ...more] = effects;
  assert.deepEqual([found, more], [['find-order', name], []], `effects of ${name}`);
  switch (say.decision) {
    case 'respond':
      assert.deepEqual([second, result], [undefined, { paid: 0 }], name);
      break;
    case 'reroute': {
      assert.deepEqual(second?.slice(0, 2), ['call-lawyers', name]);
      assert.match(String(second?.[2]), new RegExp(`In their words: ${say.options.text}$`, 'm'));
      assert.deepEqual(result, { paid: 0 }, name);
      break;
    }
    default:
      assert.deepEqual([second, result], [['pay', name, cents], { paid: cents }], name);
  }
}
