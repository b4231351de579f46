import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Invalid } from '../../src/errors.js';
import { closed } from '../../src/worker/schema.js';
import { Workflow } from '../../src/worker/workflow.js';

const cents = closed({ cents: { type: 'integer', minimum: 1 } });

test('a workflow is registered as the contract says', () => {
  const desk = new Workflow('support-desk', {
    kinds: { ORCHESTRATOR: null, REFUNDS: 'refund', BANK: 'refund', LEGAL: 'legal_matter' },
    routes: {
      refund: { schema: cents, description: 'Pays money back.' },
      legal_matter: { schema: closed({ matter: { type: 'string', maxLength: 9 } }), name: 'LAWYERS', request: 'Matter' },
      archive: { ...cents, description: 'Puts it away.' },
    },
  });
  assert.equal(desk.rootKind, 'ORCHESTRATOR');
  const { kinds, routes } = desk.registration;
  assert.deepEqual(kinds, [
    { name: 'ORCHESTRATOR', origin: 'ORCHESTRATOR' },
    { name: 'REFUNDS', origin: 'REFUNDS' },
    { name: 'BANK', origin: 'REFUNDS' },
    { name: 'LEGAL', origin: 'LAWYERS' },
  ]);
  assert.deepEqual(
    routes.map(({ schema: _, ...route }) => route),
    [
      { name: 'REFUNDS', field: 'refund', request: 'RefundRequest', description: 'Pays money back.' },
      { name: 'LAWYERS', field: 'legal_matter', request: 'Matter' },
      { name: 'ARCHIVE', field: 'archive', request: 'ArchiveRequest', description: 'Puts it away.' },
    ],
  );
  assert.equal(routes[0]?.schema, cents);
});

test('a workflow that contradicts itself says all of it', () => {
  const kinds: Record<string, string | null> = { LEGAL: 'nowhere', ARCHIVE: null };
  const routes = { archive: cents, other: { schema: cents, name: 'ARCHIVE' } };
  const make = (): unknown => new Workflow('desk', { kinds, routes } as never);
  assert.throws(make, (error) => {
    assert.ok(error instanceof Invalid);
    const pointers = error.errors.map((it) => it.pointer);
    assert.deepEqual(pointers, ['/routes', '/kinds/LEGAL', '/kinds/ARCHIVE']);
    return true;
  });
  assert.throws(() => new Workflow('desk', { kinds: {} }), Invalid);
});

test('a kind whose answers go to no route does not compile', () => {
  // @ts-expect-error there is no route `legal`
  assert.throws(() => new Workflow('desk', { kinds: { LEGAL: 'legal' }, routes: { refund: cents } }), Invalid);
});
