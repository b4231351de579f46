import assert from 'node:assert/strict';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

/** Those that look whether there is Node before they use it. */
const OF_NODE = ['local.js', 'worker/process-end.js', 'wire/settings.js'];

test('the package uses what a browser has, too, but where it looks for Node', async () => {
  const files = (await readdir('dist', { recursive: true })).filter((it) => it.endsWith('.js') && !OF_NODE.includes(it));
  assert.ok(files.length > 30);
  for (const file of files) {
    const code = (await readFile(join('dist', file), 'utf8')).replace(/\/\*[^]*?\*\/|\/\/.*/g, '');
    assert.doesNotMatch(code, /\bprocess\.|\bBuffer\b|\bglobal\b|\bset(Immediate)\b|\b__dirname\b|\brequire\(|'node:/, file);
  }
});

test('its declarations need no types of Node', async () => {
  const files = (await readdir('dist', { recursive: true })).filter((it) => it.endsWith('.d.ts'));
  for (const file of files) assert.doesNotMatch(await readFile(join('dist', file), 'utf8'), /NodeJS|'node:|types="node"/, file);
});
