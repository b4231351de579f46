import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Backoff } from '../../src/wire/backoff.js';

function pauses(random: number, count: number): number[] {
  const backoff = new Backoff(() => random);
  return Array.from({ length: count }, () => backoff.next());
}

test('pauses double up to two seconds', () => {
  assert.deepEqual(pauses(1, 8), [50, 100, 200, 400, 800, 1_600, 2_000, 2_000]);
});

test('half of a pause is random', () => {
  assert.deepEqual(pauses(0, 3), [25, 50, 100]);
});

test('after a success it begins anew', () => {
  const backoff = new Backoff(() => 1);
  backoff.next();
  backoff.next();
  backoff.reset();
  assert.equal(backoff.next(), 50);
});
