import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Invalid } from '../../src/errors.js';
import { checked } from '../../src/worker/keys.js';

test('keys of the contract pass', () => {
  for (const key of ['refund', 'refund:request', 'a-b_c.d~1', 'x'.repeat(150)]) assert.equal(checked(key), key);
});

test('other keys are refused before a request is sent', () => {
  for (const key of ['', 'a/b', 'a b', 'é', 'x'.repeat(151)]) assert.throws(() => checked(key), Invalid, key);
});
