import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { RouterError } from '../../src/errors.js';
import { effective } from '../../src/wire/settings.js';

afterEach(() => {
  delete process.env['IRQ_SERVER'];
  delete process.env['IRQ_TOKEN'];
});

test('the environment says what the caller does not', () => {
  process.env['IRQ_SERVER'] = 'http://irq.test:7070/';
  process.env['IRQ_TOKEN'] = 'irq_1\n';
  const { server, token } = effective({});
  assert.deepEqual([server, token], ['http://irq.test:7070', 'irq_1']);
  assert.equal(effective({ server: 'https://other.test', token: 'irq_2' }).server, 'https://other.test');
});

test('what is missing or no address is said at once', () => {
  assert.throws(() => effective({ token: 'irq_1' }), /no server is given[^]*IRQ_SERVER/);
  assert.throws(() => effective({ server: 'http://irq.test' }), /no token is given[^]*IRQ_TOKEN/);
  assert.throws(() => effective({ server: 'irq.test:7070', token: 'irq_1' }), RouterError);
});
