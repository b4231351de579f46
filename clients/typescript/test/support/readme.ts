import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const FOLDER = resolve('target/readme');

/**
 * Compiles the snippets of the README of this package, strictly: the first one as it stands, and the others one after the other with what
 * they take for granted. Gives the program that the first one is.
 */
export function compiled(assumed: string): string {
  const [first = '', ...others] = [...readFileSync('README.md', 'utf8').matchAll(/^```ts\n([^]*?)^```$/gm)].map((it) => it[1] ?? '');
  const isImport = (line: string): boolean => line.startsWith('import ');
  const bodies = others.map((it) => it.split('\n').filter((line) => !isImport(line)).join('\n'));
  const functions = bodies.map((it, index) => `async function snippet${index + 2}() {\n${it}}`);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, 'first.ts'), first);
  writeFileSync(join(FOLDER, 'others.ts'), [assumed, ...functions].join('\n'));
  const flags = '--ignoreConfig --strict --exactOptionalPropertyTypes --skipLibCheck --target es2022 --module nodenext --types node --rootDir target/readme'.split(' ');
  const sources = ['first.ts', 'others.ts'].map((it) => join(FOLDER, it));
  const { stdout } = spawnSync('node_modules/.bin/tsc', [...flags, '--outDir', FOLDER, ...sources], { encoding: 'utf8' });
  assert.equal(stdout, '', stdout);
  return join(FOLDER, 'first.js');
}
