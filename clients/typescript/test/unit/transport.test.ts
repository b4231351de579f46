import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AlreadyResolved, RateLimited, RouterError, Unavailable } from '../../src/errors.js';
import { type Settings, effective } from '../../src/wire/settings.js';
import { Transport } from '../../src/wire/transport.js';
import { FakeServer, cut, json, problem, silent } from '../support/fake-server.js';

function transport(server: string, more: Partial<Settings> = {}): Transport {
  return new Transport(effective({ server, token: 'irq_1', timeoutMs: 1_000, patienceMs: 5_000, ...more }));
}

test('a request carries the token, its parameters and its body in the words of the wire', async () => {
  await using server = await FakeServer.start(json(200, { run_id: 'run_1' }));
  const reply = await transport(server.url).send({
    method: 'PUT',
    path: '/v1/work/run_1/lease',
    query: { epoch: 3, known: undefined },
    body: { leaseMs: 5 },
    waitMs: 20,
  });
  assert.deepEqual(reply, { status: 200, body: { runId: 'run_1' } });
  const [got] = server.got;
  assert.equal(got?.url.search, '?epoch=3&wait_ms=20');
  assert.equal(got?.headers.authorization, 'Bearer irq_1');
  assert.equal(got?.text, '{"lease_ms":5}');
});

test('a request goes out again until it is answered, with the same key', async () => {
  await using server = await FakeServer.start(cut, problem(503, 'draining'), problem(429, 'rate-limited'), json(201, { ok: 1 }));
  const reply = await transport(server.url).send({ method: 'POST', path: '/v1/runs', body: {} });
  assert.equal(reply.status, 201);
  const keys = new Set(server.got.map((it) => it.headers['idempotency-key']));
  assert.equal(server.got.length, 4);
  assert.equal(keys.size, 1);
  assert.match([...keys].join(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('Retry-After is obeyed', async () => {
  await using server = await FakeServer.start(problem(429, 'rate-limited', {}, { 'retry-after': '1' }), json(200, {}));
  const begun = performance.now();
  await transport(server.url).send({ method: 'GET', path: '/' });
  assert.ok(performance.now() - begun >= 1_000);
});

test('an answer that is cut off within its body is asked for again', async () => {
  const half = (response: Parameters<typeof cut>[0]): void => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('{"run_id"', () => response.destroy());
  };
  await using server = await FakeServer.start(half, json(200, { run_id: 'run_1' }));
  assert.deepEqual(await transport(server.url).body({ method: 'GET', path: '/' }), { runId: 'run_1' });
});

test('patience ends, and the last problem is told', async () => {
  await using server = await FakeServer.start(problem(429, 'rate-limited'));
  const asking = transport(server.url, { patienceMs: 200 }).send({ method: 'GET', path: '/' });
  await assert.rejects(asking, (error) => error instanceof RateLimited && error.code === 'rate-limited' && error.hint === 'a hint');
  assert.ok(server.got.length > 1);
});

test('a server that is not there is unavailable', async () => {
  const server = await FakeServer.start(silent);
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const asking = transport(url, { patienceMs: 100 }).send({ method: 'GET', path: '/' });
  await assert.rejects(asking, (error) => error instanceof Unavailable && error.code === 'unreachable');
});

test('a server that is away for more than a second is told of before the pause that is longer, once', async () => {
  for (const [retryAfter, patienceMs, told] of [
    ['0.6', 700, 0],
    ['1.1', 1_500, 1],
    ['1.1', 3_000, 1],
  ] as const) {
    await using server = await FakeServer.start(problem(503, 'draining', {}, { 'retry-after': retryAfter }));
    const said: string[] = [];
    const asking = transport(server.url, { patienceMs, onWait: (what) => said.push(what) }).send({ method: 'GET', path: '/' });
    await assert.rejects(asking, (error) => error instanceof Unavailable && error.code === 'draining');
    assert.equal(said.length, told);
    for (const it of said) assert.match(it, /^it is draining; trying again for [123] s$/);
  }
});

test('a server that says nothing is left at the deadline', async () => {
  await using server = await FakeServer.start(silent, json(200, {}));
  await transport(server.url, { timeoutMs: 50 }).send({ method: 'GET', path: '/' });
  assert.equal(server.got.length, 2);
  await using mute = await FakeServer.start(silent);
  const asking = transport(mute.url, { timeoutMs: 50, patienceMs: 0 }).send({ method: 'GET', path: '/' });
  await assert.rejects(asking, (error) => error instanceof Unavailable && error.code === 'timed-out');
});

test('a refusal goes out once', async () => {
  await using server = await FakeServer.start(problem(409, 'already-resolved', { resolved_by: 'ann' }));
  const deciding = transport(server.url).send({ method: 'POST', path: '/', body: {} });
  await assert.rejects(deciding, (error) => error instanceof AlreadyResolved && error.problem['resolved_by'] === 'ann');
  assert.equal(server.got.length, 1);
});

test('a signal ends a request with its own reason, and a pause between two tries', async () => {
  for (const answer of [silent, problem(503, 'draining', {}, { 'retry-after': '60' })]) {
    await using server = await FakeServer.start(answer);
    const controller = new AbortController();
    const asking = transport(server.url, { patienceMs: 120_000 }).send({ method: 'GET', path: '/', signal: controller.signal });
    const reason = new Error('stopped');
    setTimeout(() => controller.abort(reason), 50);
    await assert.rejects(asking, reason);
  }
});

test('the token goes to no other server', async () => {
  await using other = await FakeServer.start(json(200, {}));
  await using server = await FakeServer.start((response) => response.writeHead(307, { location: other.url }).end());
  await assert.rejects(transport(server.url).send({ method: 'GET', path: '/' }), (error) => (error as RouterError).code === 'redirected');
  assert.equal(other.got.length, 0);
});

test('what is no Interrupt Router is said so', async () => {
  const page = (response: Parameters<typeof cut>[0]): void => void response.end('<html>');
  await using server = await FakeServer.start(page);
  await assert.rejects(transport(server.url).send({ method: 'GET', path: '/' }), (error) => (error as RouterError).code === 'not-json');
});

test('a body that JSON cannot hold is the error of the caller, and goes out never', async () => {
  await using server = await FakeServer.start(json(200, {}));
  const sending = transport(server.url).send({ method: 'PUT', path: '/', body: { input: 1n } });
  await assert.rejects(sending, TypeError);
  assert.equal(server.got.length, 0);
});
