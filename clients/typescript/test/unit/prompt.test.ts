import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision, QuestionView } from '../../src/worker/views.js';
import { rejection, task } from '../../src/worker/prompt.js';

const decision: Decision = {
  id: 'dec_1',
  decision: 'approve',
  text: 'be quick',
  choices: ['yes'],
  confirmations: { seen: true, paid: false },
  by: 'ann',
  at: '2026-11-25T10:00:00Z',
};

test('a model is told what was asked and decided', () => {
  const question = { kind: 'REFUNDS', reason: 'Refund 120 €?' } as QuestionView;
  assert.equal(
    task('refund', question, decision).content,
    [
      'Fill in the request `refund`. Answer with one JSON object that has this property and no other.',
      'The agent REFUNDS asked: Refund 120 €?',
      'ann decided: approve',
      'Chosen: yes',
      'Confirmed `seen`: yes',
      'Confirmed `paid`: no',
      'In their words: be quick',
    ].join('\n'),
  );
});

test('a model reads its answer and what does not fit in it', () => {
  const [answer, mistakes] = rejection({ refund: {} }, [{ pointer: '/refund', message: 'lacks `cents`' }]);
  assert.deepEqual(answer, { role: 'assistant', content: '{"refund":{}}' });
  assert.match(mistakes?.content ?? '', /^- \/refund: lacks `cents`$/m);
});
