import assert from 'node:assert/strict';
import { test } from 'node:test';
import { camelize, snakify } from '../../src/wire/case.js';

test('members are renamed at every depth', () => {
  const body = { runId: 'r', claimedBy: { leaseUntil: 1 }, agents: [{ agentId: 'root' }] };
  const wire = { run_id: 'r', claimed_by: { lease_until: 1 }, agents: [{ agent_id: 'root' }] };
  assert.deepEqual(snakify(body), wire);
  assert.deepEqual(camelize(wire), body);
});

test('the data of users keeps its names', () => {
  const wire = { input: { order_id: 17 }, result: { paid_cents: 1 }, state: { next_step: 2 }, confirmations: { read_tests: true } };
  assert.deepEqual(camelize(wire), wire);
  const body = { input: { orderId: 17 }, arguments: { paidCents: 3 }, responseSchema: { maxLength: 3 } };
  assert.deepEqual(snakify(body), { input: { orderId: 17 }, arguments: { paidCents: 3 }, response_schema: { maxLength: 3 } });
});

test('what has no members stays as it is', () => {
  for (const value of [null, 'run_id', 3, true]) {
    assert.equal(camelize(value), value);
    assert.equal(snakify(value), value);
  }
});
