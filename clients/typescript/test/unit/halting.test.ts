import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Halting } from '../../src/worker/halting.js';

const reason = new Error('a person stops it');

test('a graceful stop tells the agents below, and cuts off nothing', () => {
  const run = new Halting();
  const agent = run.child().child();
  run.halt(reason, false);
  assert.equal(agent.signal.reason, reason);
  assert.equal(agent.immediate.aborted, false);
});

test('a stop may become immediate, with the reason that was there', () => {
  const run = new Halting();
  const agent = run.child();
  run.halt(reason, false);
  run.halt(new Error('harder'), true);
  assert.equal(agent.signal.reason, reason);
  assert.equal(agent.immediate.reason, reason);
});

test('the stop of an agent concerns those below it and no others', () => {
  const run = new Halting();
  const [first, second] = [run.child(), run.child()];
  const below = first.child();
  first.halt(reason, true);
  assert.deepEqual([run, first, below, second].map((it) => it.immediate.aborted), [false, true, true, false]);
});

test('an agent that begins after the stop is told', () => {
  const run = new Halting();
  run.halt(reason, true);
  const late = run.child();
  assert.equal(late.signal.reason, reason);
  assert.equal(late.immediate.aborted, true);
});
