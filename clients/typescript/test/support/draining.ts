// A worker whose effect takes a while, so that a signal arrives within it: `node draining.js run ticket-17`.
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Router, type Run, Workflow } from '../../src/index.js';

const [mode, alias = ''] = process.argv.slice(2);
const { IRQ_SERVER, IRQ_TOKEN, LEDGER = '' } = process.env;
const workflow = new Workflow(alias, { kinds: { CLERK: null } });
const router = new Router({ leaseMs: 60_000 });

async function handle({ root }: Run<typeof workflow, null>): Promise<string> {
  const paid = await root.effect('pay', async () => {
    console.log('pays');
    await sleep(1_000);
    appendFileSync(LEDGER, 'paid\n');
    return 'paid';
  });
  await root.ask({ key: 'a', reason: 'A?' });
  return paid;
}

// What else a program has open must not keep it.
setInterval(() => undefined, 60_000);
if (mode === 'listens') process.once('SIGTERM', () => console.log('told'));
if (mode === 'work') {
  await router.register(workflow);
  const headers = { authorization: `Bearer ${IRQ_TOKEN}`, 'content-type': 'application/json' };
  await fetch(`${IRQ_SERVER}/v1/workflows/${alias}/runs`, { method: 'POST', headers, body: JSON.stringify({ input: null, thread_id: alias }) });
  await router.work(workflow, handle);
} else await router.run(workflow, { alias, input: null }, handle).catch((error) => console.log(String(error)));
process.exit(3);
