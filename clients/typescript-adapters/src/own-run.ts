import type { ModelMessage } from 'ai';
import { Router, RunFinished, Workflow } from 'interrupt-router';
import type { Generation } from './call.js';
import { type Place, currentPlace, durable } from './place.js';

let count = 0;

/**
 * Makes a run for one call of code that has none. `IRQ_RUN` names it: a process that starts again with the same name goes on with the
 * run, once the lease of the dead one is over. Further calls of the process are runs of their own.
 */
export async function inOwnRun<G extends Generation>(messages: readonly ModelMessage[], work: (place: Place) => Promise<G>): Promise<G> {
  const { IRQ_RUN: name, IRQ_WORKFLOW: workflow = 'ai-sdk', IRQ_LEASE_MS: leaseMs = '30000' } = process.env;
  count += 1;
  const alias = name === undefined || count === 1 ? name : `${name}-${count}`;
  let result: G | undefined;
  const handler = durable(async () => {
    result = await work(currentPlace() as Place);
    return result.text;
  });
  const order = { input: JSON.parse(JSON.stringify(messages)) as unknown, ...(alias !== undefined && { alias }) };
  await new Router({ leaseMs: Number(leaseMs) }).run(new Workflow(workflow, { kinds: { AGENT: null } }), order, handler);
  if (result !== undefined) return result;
  const detail = `the run ${alias} was completed before`;
  throw new RunFinished({ code: 'run-finished', detail, hint: 'give IRQ_RUN another name to begin anew' });
}
