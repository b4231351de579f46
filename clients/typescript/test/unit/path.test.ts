import assert from 'node:assert/strict';
import { test } from 'node:test';
import { path } from '../../src/wire/path.js';

test('each part is encoded, and stays one part', () => {
  assert.equal(path`/v1/agents/${'run_1/root'}/messages`, '/v1/agents/run_1%2Froot/messages');
  assert.equal(path`/questions/${'a?b#c d'}`, '/questions/a%3Fb%23c%20d');
});

test('a colon is encoded, the other signs of a key are not', () => {
  assert.equal(path`/questions/${'refund:request'}`, '/questions/refund%3Arequest');
  assert.equal(path`/effects/${'root~pay_1.2-3'}`, '/effects/root~pay_1.2-3');
});
