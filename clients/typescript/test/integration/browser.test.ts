import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { IrqServer } from '../support/irq-server.js';

const CHROMIUM = process.env['CHROMIUM'] ?? 'chromium';
const skip = spawnSync(CHROMIUM, ['--version']).status === 0 ? false : 'needs Chromium; CHROMIUM names it';

/** How long the page has, in milliseconds. */
const PATIENCE = 60_000;

/** A page that works on a run, answers its question as a person, reads the feed, and says what came of it. */
function page(worker: string, person: string): string {
  return `<!doctype html><body>waiting<script type="module">
    import { Operator, Router, Workflow, closed } from '/dist/index.js';
    const server = location.origin;
    async function work() {
      const workflow = new Workflow('page', { kinds: { CLERK: 'note' }, routes: { note: closed({ n: { type: 'integer' } }) } });
      const ann = new Operator({ server, token: '${person}' });
      const completed = (async () => { for await (const event of ann.events({ after: '0', topics: ['run.completed'] })) return event.type; })();
      const result = await new Router({ server, token: '${worker}' }).run(workflow, { input: 1 }, async (run) => {
        const asking = run.root.ask({ key: 'note', reason: 'Note?' });
        let question;
        while (question === undefined) for await (question of ann.interrupts()) break;
        await ann.decide(question, 'approve');
        return (await (await asking).fill(() => ({ note: { n: 7 } }))).n;
      });
      return [result, await completed].join(' ');
    }
    await fetch('/told', { method: 'POST', body: await work().catch((error) => error.stack) });
  </script>`;
}

test('the package works in a browser', { skip }, async () => {
  await using server = await IrqServer.start();
  const worker = await server.token('--role', 'worker', '--workflow', 'page');
  const person = await server.token('--role', 'reviewer', '--name', 'ann');
  const { hostname, port } = new URL(server.url);
  // Stands for the proxy before a real page: the page, the package and the server have one origin.
  let said: (words: string) => void;
  const told = new Promise<string>((resolve) => (said = resolve));
  const proxy = createServer((incoming, outgoing) => {
    const { url = '', method, headers } = incoming;
    if (url === '/told') return void text(incoming).then((words) => (outgoing.end(), said(words)));
    if (url === '/') return void outgoing.writeHead(200, { 'content-type': 'text/html' }).end(page(worker, person));
    if (url.startsWith('/dist/')) {
      return void readFile(`.${url}`).then((file) => outgoing.writeHead(200, { 'content-type': 'text/javascript' }).end(file));
    }
    const onward = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    outgoing.once('close', () => onward.destroy());
    return void incoming.pipe(onward.once('error', () => outgoing.destroy()));
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`;
  const profile = await mkdtemp(join(tmpdir(), 'irq-browser-'));
  const options = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${profile}`, address];
  const browser = spawn(CHROMIUM, options, { stdio: 'ignore', timeout: PATIENCE });
  const gone = once(browser, 'exit').then(() => 'the browser has gone');
  try {
    assert.equal(await Promise.race([told, gone]), '7 dev.irq.run.completed.v1');
  } finally {
    browser.kill();
    await gone;
    proxy.closeAllConnections();
    proxy.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10 });
  }
});
