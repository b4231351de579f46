import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { Forbidden } from '../../src/errors.js';
import { Operator } from '../../src/people/operator.js';
import { FakeServer, cut, json, problem } from '../support/fake-server.js';

function stream(ending: 'ends' | 'breaks' | 'stays', ...ids: number[]): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('retry: 2000\n\n');
    for (const id of ids) response.write(`id: ${id}\ndata: ${JSON.stringify({ id: `${id}`, type: 'dev.irq.run.created.v1' })}\n\n`);
    if (ending === 'ends') response.end();
    if (ending === 'breaks') response.write('id: 99\ndata: {"ha', () => response.destroy());
  };
}

const over = (response: ServerResponse): void => void response.writeHead(204).end();

test('the feed goes on after its last event, however a connection ends', async () => {
  const answers = [stream('ends', 1, 2), stream('breaks', 3), cut, problem(503, 'draining'), stream('ends', 4), over] as const;
  await using server = await FakeServer.start(...answers);
  const feed = new Operator({ server: server.url, token: 'irq_1' }).events({ after: '0', topics: ['run.*', 'interrupt.*'] });
  const ids = [];
  for await (const event of feed) ids.push(event.id);
  assert.deepEqual(ids, ['1', '2', '3', '4']);
  assert.equal(feed.cursor, '4');
  const positions = server.got.map((it) => it.url.searchParams.get('after_seq'));
  assert.deepEqual(positions, ['0', '2', '3', '3', '3', '4']);
  assert.equal(server.got[0]?.url.searchParams.get('topics'), 'run.*,interrupt.*');
  assert.equal(server.got[0]?.headers.authorization, 'Bearer irq_1');
});

test('a feed from now on misses nothing when its first connection breaks', async () => {
  await using server = await FakeServer.start(json(200, { seq: '0041' }), cut, stream('ends', 42), over);
  const feed = new Operator({ server: server.url, token: 'irq_1' }).events();
  for await (const event of feed) assert.equal(event.id, '42');
  const positions = server.got.map((it) => it.url.searchParams.get('after_seq'));
  assert.deepEqual(positions, [null, '0041', '0041', '42']);
});

test('a signal ends the feed, and so does leaving the loop', async () => {
  await using server = await FakeServer.start(stream('stays', 1));
  const operator = new Operator({ server: server.url, token: 'irq_1' });
  const controller = new AbortController();
  for await (const _ of operator.events({ after: '0', signal: controller.signal })) controller.abort();
  for await (const _ of operator.events({ after: '0' })) break;
  assert.equal(server.got.length, 2);
});

test('a feed that is refused says why', async () => {
  await using server = await FakeServer.start(problem(403, 'forbidden'));
  const feed = new Operator({ server: server.url, token: 'irq_1' }).events({ after: '0' });
  await assert.rejects(async () => {
    for await (const _ of feed) assert.fail();
  }, Forbidden);
});
