import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Decided, DecisionName, DecisionOptions, Operator, Router, Run } from '../../src/index.js';
import { desk, openQuestion } from '../support/desk.js';
import { IrqServer } from '../support/irq-server.js';

let server: IrqServer;
let router: Router;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  router = await server.router(desk);
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

/** What code heard, and what it did. */
interface Heard {
  readonly as: Decided['decidedAs'];
  readonly said?: unknown;
  readonly paid?: number;
}

/** Pays as code should: after a yes, and nothing else. That each way is thought of is checked by the compiler. */
async function settle(run: Run<typeof desk, null>, deadlineMs?: number): Promise<Heard> {
  const refunds = await run.agent('REFUNDS');
  const answer = await refunds.ask({
    key: 'refund',
    reason: 'Refund 120 €?',
    choices: ['yes', 'no'],
    confirmations: [{ id: 'seen', prompt: 'Did you see the photo?' }],
    ...(deadlineMs && { deadlineMs }),
  });
  const as = answer.decidedAs;
  switch (as) {
    case 'approved': {
      if (answer.field !== 'refund') return { as };
      const { cents } = await answer.fill(() => ({ refund: { cents: 12_000 } }));
      return { as, said: answer.text, paid: await refunds.effect('pay', () => cents) };
    }
    case 'answered':
      return { as, said: [answer.text, answer.choices, answer.confirmations] };
    case 'rerouted':
      return { as, said: answer.route };
    case 'declined':
      return { as, said: [answer.how, answer.text, answer.decision.choices, answer.decision.confirmations] };
    case 'expired':
    case 'withdrawn':
      assert.ok(!('fill' in answer) && !('route' in answer) && !('request' in answer));
      return { as, said: answer.key };
    default:
      return answer satisfies never;
  }
}

const CONFIRMED = { confirmations: { seen: true } };
const TABLE: readonly (readonly [decision: DecisionName, options: DecisionOptions, heard: Heard])[] = [
  ['approve', { ...CONFIRMED, text: 'be quick' }, { as: 'approved', said: 'be quick', paid: 12_000 }],
  ['edit', { request: { cents: 5 }, text: 'a voucher' }, { as: 'approved', said: 'a voucher', paid: 5 }],
  ['approve', { ...CONFIRMED, choices: ['no'] }, { as: 'answered', said: [null, ['no'], { seen: true }] }],
  ['approve', { confirmations: { seen: false }, text: 'no' }, { as: 'answered', said: ['no', [], { seen: false }] }],
  ['respond', { text: 'No! He is a fraud.' }, { as: 'answered', said: ['No! He is a fraud.', [], {}] }],
  ['reroute', { rerouteTo: 'LEGAL' }, { as: 'rerouted', said: 'LEGAL' }],
  ['reject', {}, { as: 'declined', said: ['reject', null, [], {}] }],
  ['reject', { text: 'too much' }, { as: 'declined', said: ['reject', 'too much', [], {}] }],
  ['reject', { ...CONFIRMED, choices: ['yes'] }, { as: 'declined', said: ['reject', null, [], {}] }],
  ['ignore', {}, { as: 'declined', said: ['ignore', null, [], {}] }],
  ['cancel', {}, { as: 'declined', said: ['cancel', null, [], {}] }],
];

describe('what a decision is for the code that asked', { concurrency: 8 }, () => {
  for (const [index, [decision, options, heard]] of TABLE.entries()) {
    test(`${decision} ${JSON.stringify(options)} is ${heard.as}`, async () => {
      const alias = `decided-${index}`;
      const running = router.run(desk, { alias, input: null }, settle);
      await ann.decide(await openQuestion(ann, alias), decision, options);
      assert.deepEqual(await running, heard);
    });
  }

  test('a deadline is expired', async () => {
    const heard = await router.run(desk, { alias: 'late', input: null }, (run: Run<typeof desk, null>) => settle(run, 500));
    assert.deepEqual(heard, { as: 'expired', said: 'refund' });
  });

  test('a question that is withdrawn is withdrawn', async () => {
    const running = router.run(desk, { alias: 'withdrawn', input: null }, async (run: Run<typeof desk, null>) => {
      const settling = settle(run);
      await openQuestion(ann, 'withdrawn');
      await run.root.withdraw('refund');
      return settling;
    });
    assert.deepEqual(await running, { as: 'withdrawn', said: 'refund' });
  });

  test('an approval that a supervisor sends elsewhere is rerouted', async () => {
    const running = router.run(desk, { alias: 'steered', input: null }, async (run: Run<typeof desk, null>) => {
      const refunds = await run.agent('REFUNDS');
      await ann.requestInterrupt({ agentId: `${run.id}/root/refunds`, agentType: refunds.kind }, 'Let legal look', { rerouteTo: 'LEGAL' });
      return settle(run);
    });
    await ann.decide(await openQuestion(ann, 'steered'), 'approve', { ...CONFIRMED, text: 'go' });
    assert.deepEqual(await running, { as: 'rerouted', said: 'LEGAL' });
  });
});
