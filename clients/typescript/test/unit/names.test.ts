import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Agent, Interrupt, Operator } from '../../src/index.js';

test('a name that the server does not know does not compile', () => {
  const wrong = async (ann: Operator, asked: Interrupt, agent: Agent): Promise<void> => {
    // @ts-expect-error there is no such part of the inbox
    ann.interrupts({ status: 'opne' });
    // @ts-expect-error there is no such state of a run
    ann.runs({ status: 'sleeping' });
    // @ts-expect-error there is no such state of an agent
    ann.agents({ status: 'sleeping' });
    // @ts-expect-error there is no such mode
    await ann.stop('run_1/root', { mode: 'soon' });
    // @ts-expect-error there is no such scope
    await ann.stop('run_1/root', { scope: 'all' });
    // @ts-expect-error there is no such decision
    await ann.decide(asked, 'maybe');
    // @ts-expect-error an agent does nothing of that name
    await agent.report({ status: 'sleeping' });
    // @ts-expect-error an interrupt comes to no such state
    if (asked.state === 'done') await ann.withdraw(asked.id);
  };
  assert.equal(typeof wrong, 'function');
});
