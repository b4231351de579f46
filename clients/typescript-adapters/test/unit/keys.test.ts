import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf } from '../../src/keys.js';

test('a key is made of its parts where the server takes them', () => {
  assert.equal(keyOf('ai:1', 'tool', 2, 'call_abc'), 'ai:1:tool:2:call_abc');
});

test('what the server does not take becomes a key that is as unique', () => {
  const keys = [keyOf('ai', 'call|1'), keyOf('ai', 'call|2'), keyOf('ai|call', '1'), keyOf('ai', 'x'.repeat(200))];
  for (const key of keys) assert.match(key, /^[0-9a-f]{64}$/);
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(keyOf('ai', 'call|1'), keys[0]);
});
