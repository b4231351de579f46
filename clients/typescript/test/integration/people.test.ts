import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  AlreadyResolved,
  Claimed,
  DecisionNotAllowed,
  type FeedEvent,
  Forbidden,
  IdempotencyConflict,
  Invalid,
  NotFound,
  type Operator,
  type Router,
  StaleVersion,
  Unauthenticated,
  Operator as Person,
} from '../../src/index.js';
import { desk, openQuestion } from '../support/desk.js';
import { IrqServer } from '../support/irq-server.js';

let server: IrqServer;
let router: Router;
let ann: Operator;
let bob: Operator;

before(async () => {
  server = await IrqServer.start();
  router = await server.router(desk);
  ann = await server.operator('ann');
  bob = await server.operator('bob', 'reviewer');
});
after(() => server[Symbol.asyncDispose]());

/** A run that asks one question, and ends with the words of the answer. */
function asking(alias: string): Promise<string | null> {
  return router.run(desk, { alias, input: alias }, async (run) => {
    const decided = await run.root.ask({ key: 'a', reason: `${alias}?` });
    return 'text' in decided ? decided.text : decided.decidedAs;
  });
}

test('the token says who acts', async () => {
  const { name, role, version, seq } = await bob.whoami();
  assert.deepEqual([name, role], ['bob', 'reviewer']);
  assert.match(version, /^\d+\.\d+\.\d+/);
  assert.match(seq, /^\d+$/);
  await assert.rejects(new Person({ server: server.url, token: 'irq_00' }).whoami(), Unauthenticated);
});

test('one of many who decide wins, and the others hear who', async () => {
  const running = asking('race');
  const question = await openQuestion(ann, 'race');
  const outcomes = await Promise.allSettled([ann, bob].map((it) => it.decide(question, 'respond', { text: 'me' })));
  const lost = outcomes.filter((it) => it.status === 'rejected').map((it) => it.reason as unknown);
  assert.equal(lost.length, 1);
  const [error] = lost;
  assert.ok(error instanceof AlreadyResolved || error instanceof StaleVersion, String(error));
  assert.equal(await running, 'me');
  const { decision } = await ann.interrupt(question.id);
  assert.ok(decision?.by === 'ann' || decision?.by === 'bob');
});

test('a decision that is sent again with its key is the same decision', async () => {
  const running = asking('again');
  const question = await openQuestion(ann, 'again');
  const options = { text: 'yes', key: 'again-1' };
  const [first, second] = [await ann.decide(question, 'respond', options), await ann.decide(question, 'respond', options)];
  assert.equal(first.decisionId, second.decisionId);
  assert.equal(first.payload?.['text'], 'yes');
  await assert.rejects(ann.decide(question, 'respond', { ...options, text: 'no' }), IdempotencyConflict);
  await assert.rejects(bob.decide(question, 'respond', { text: 'no' }), (error) => error instanceof AlreadyResolved && error.problem['resolved_by'] === 'ann');
  await running;
});

test('who claims a question decides it, until the claim is given back', async () => {
  const running = asking('claimed');
  const question = await openQuestion(ann, 'claimed');
  const claimed = await ann.claim(question, { seconds: 60 });
  assert.equal(claimed.claimedBy?.by, 'ann');
  await assert.rejects(bob.decide(await bob.interrupt(question.id), 'respond', { text: 'mine' }), Claimed);
  const released = await ann.release(claimed);
  assert.equal(released.claimedBy, undefined);
  await bob.decide(released, 'respond', { text: 'mine' });
  assert.equal(await running, 'mine');
});

test('what does not fit is refused, with its place', async () => {
  const running = asking('unfit');
  const question = await openQuestion(ann, 'unfit');
  const unfit = ann.decide(question, 'respond', { choices: ['maybe'] });
  await assert.rejects(unfit, (error) => error instanceof Invalid && error.errors[0]?.pointer === '/payload/selectedChoices');
  await assert.rejects(ann.decide(question, 'resume'), (error) => error instanceof DecisionNotAllowed && error.hint !== '');
  await assert.rejects(ann.interrupt('int_01a2141e9ba6706baeebd3b2754471a1'), NotFound);
  await assert.rejects(bob.cancel(question.runId), Forbidden);
  await ann.withdraw(question.id);
  assert.equal(await running, 'withdrawn');
});

test('runs, agents and questions are listed, part by part', async () => {
  const aliases = Array.from({ length: 4 }, (_, index) => `listed-${index}`);
  const running = aliases.map((alias) => asking(alias));
  const questions = await Promise.all(aliases.map((alias) => openQuestion(ann, alias)));
  const found = new Set<string>();
  for await (const run of ann.runs({ status: 'running' })) found.add(run.threadId);
  assert.deepEqual([...found].sort(), aliases);
  const runId = questions[2]?.runId ?? '';
  const agents = [];
  for await (const agent of ann.agents({ runId })) agents.push([agent.agentId, agent.agentType, agent.openInterrupts.length]);
  assert.deepEqual(agents, [[`${runId}/root`, 'ORCHESTRATOR', 1]]);
  for (const question of questions) await ann.decide(question, 'approve');
  await Promise.all(running);
});

test('the feed tells what happens, over a restart of the server, without a gap', async () => {
  const { seq } = await ann.whoami();
  let runId: string | undefined;
  const events: FeedEvent[] = [];
  const following = (async () => {
    const feed = ann.events({ after: seq, topics: ['interrupt.*', 'run.*'] });
    for await (const event of feed) {
      events.push(event);
      // The feed may still tell of the runs before.
      if (event.type === 'dev.irq.run.completed.v1' && runId !== undefined && event.source.endsWith(runId)) return feed.cursor;
    }
    return undefined;
  })();
  const running = asking('followed');
  const question = await openQuestion(ann, 'followed');
  runId = question.runId;
  await server.kill();
  await server.begin();
  await ann.decide(await ann.interrupt(question.id), 'respond', { text: 'after the restart' });
  assert.equal(await running, 'after the restart');
  const cursor = await following;
  const told = ['dev.irq.run.created.v1', 'dev.irq.interrupt.resolved.v1', 'dev.irq.run.completed.v1'];
  const types = events.filter((it) => it.source.endsWith(question.runId)).map((it) => it.type);
  assert.deepEqual(types.filter((it) => told.includes(it)), told);
  assert.ok(cursor !== undefined && cursor > seq);
  const run = [];
  for await (const event of ann.events({ after: '0', runId: question.runId })) run.push(event.type);
  assert.equal(run.filter((it) => it === 'dev.irq.interrupt.resolved.v1').length, 1);
});
