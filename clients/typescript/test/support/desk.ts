import assert from 'node:assert/strict';
import type { Operator } from '../../src/people/operator.js';
import type { Interrupt } from '../../src/people/views.js';
import { closed } from '../../src/worker/schema.js';
import { Workflow } from '../../src/worker/workflow.js';
import type { Decided, Routed } from '../../src/index.js';
import { eventually } from './eventually.js';

/** The workflow of the tests. */
export const desk = new Workflow('support-desk', {
  kinds: { ORCHESTRATOR: null, REFUNDS: 'refund', LEGAL: 'legal' },
  routes: {
    refund: closed({ cents: { type: 'integer', minimum: 1, maximum: 100_000 } }),
    legal: closed({ matter: { type: 'string', maxLength: 2_000 } }),
  },
});

/** A question that a run asks, once it is open. */
export function openQuestion(operator: Operator, run: string, reason?: string): Promise<Interrupt> {
  return eventually(async () => {
    const { runId } = await operator.run(run).catch(() => ({ runId: undefined }));
    if (runId === undefined) return undefined;
    for await (const interrupt of operator.interrupts({ runId })) {
      if (interrupt.type === 'HUMAN_REVIEW' && (reason === undefined || interrupt.reason.includes(reason))) return interrupt;
    }
    return undefined;
  }, `${run} asks ${reason ?? 'something'}`);
}

/** A decision that takes a route. */
export function routed<D extends Decided>(decided: D): Extract<D, Routed<any, any>> {
  assert.ok(['approved', 'answered', 'rerouted'].includes(decided.decidedAs), `it is ${decided.decidedAs}`);
  return decided as Extract<D, Routed<any, any>>;
}
