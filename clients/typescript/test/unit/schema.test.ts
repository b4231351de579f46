import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FromSchema, closed } from '../../src/worker/schema.js';

/** Compiles only if both types are the same. */
function same<A, B>(..._proof: [A, B] extends [B, A] ? [] : [never]): void {}

test('a closed object requires what is not optional, and takes nothing else', () => {
  const schema = closed({ cents: { type: 'integer', minimum: 1 }, note: { type: 'string', maxLength: 200 } }, ['note']);
  same<FromSchema<typeof schema>, { readonly cents: number; readonly note?: string }>();
  assert.deepEqual(schema, {
    type: 'object',
    additionalProperties: false,
    required: ['cents'],
    properties: { cents: { type: 'integer', minimum: 1 }, note: { type: 'string', maxLength: 200 } },
  });
});

test('the type of a request follows from its schema', () => {
  const schema = closed({
    kind: { enum: ['gift', 'money'] },
    version: { const: 2 },
    lines: { type: 'array', maxItems: 9, items: closed({ sku: { type: 'string', maxLength: 20 }, gift: { type: 'boolean' } }) },
    note: { type: ['string', 'null'], maxLength: 99 },
    amount: { anyOf: [{ type: 'number' }, { type: 'null' }] },
  });
  type Request = FromSchema<typeof schema>;
  same<
    Request,
    {
      readonly kind: 'gift' | 'money';
      readonly version: 2;
      readonly lines: readonly { readonly sku: string; readonly gift: boolean }[];
      readonly note: string | null;
      readonly amount: number | null;
    }
  >();
  assert.equal(schema.properties.lines.items.additionalProperties, false);
});
