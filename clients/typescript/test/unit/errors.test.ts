import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as errors from '../../src/errors.js';

const { errorOf, RouterError } = errors;

test('the code of a problem picks the class', () => {
  const cases: readonly [number, string, new (failure: errors.Failure) => errors.RouterError][] = [
    [409, 'lease-lost', errors.LeaseLost],
    [409, 'run-owned', errors.RunOwned],
    [409, 'run-paused', errors.RunPaused],
    [409, 'run-finished', errors.RunFinished],
    [409, 'already-resolved', errors.AlreadyResolved],
    [412, 'stale-version', errors.StaleVersion],
    [422, 'answer-rejected', errors.AnswerRejected],
    [404, 'run-not-found', errors.NotFound],
    [401, 'unauthenticated', errors.Unauthenticated],
    [403, 'forbidden', errors.Forbidden],
    [429, 'rate-limited', errors.RateLimited],
    [503, 'draining', errors.Unavailable],
    [500, 'internal', errors.Internal],
    [409, 'a-code-of-a-later-version', errors.Conflict],
    [422, 'a-code-of-a-later-version', errors.Invalid],
  ];
  for (const [status, code, expected] of cases) {
    const error = errorOf(status, { code, detail: 'it is so' });
    assert.equal(error.constructor, expected, code);
    assert.equal(error.name, expected.name);
    assert.ok(error instanceof RouterError && error instanceof Error);
  }
});

test('an error says all that its problem says', () => {
  const misfits = [{ pointer: '/refund/cents', message: 'is larger than 100000' }];
  const problem = { code: 'answer-rejected', detail: 'it does not fit', hint: 'correct it', errors: misfits, corrections_left: 2 };
  const error = errorOf(422, problem);
  assert.ok(error instanceof errors.AnswerRejected);
  assert.deepEqual(error.errors, misfits);
  assert.equal(error.hint, 'correct it');
  assert.equal(error.status, 422);
  assert.equal(error.correctionsLeft, 2);
  assert.equal(error.message, 'it does not fit\n/refund/cents: is larger than 100000\n(correct it)');
});
