// A support desk: looks up an order, asks a person, and pays or calls the lawyers.
//
//     npm start -- ticket-17 ticket-18     works on these tickets
//     npm start                            takes the tickets that no worker has, until Ctrl+C
//
// Before that: `npm ci && npm run build` in clients/typescript, and `npm install` here.
//
// It uses the server of IRQ_SERVER with the token of IRQ_TOKEN. Kill it, or the server, at any moment and start it again: it goes on,
// asks nothing twice, and pays once. It is the desk of examples/python/desk.py: each goes on with the tickets of the other.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type Model, Router, type Run, RunFinished, Workflow, closed } from 'interrupt-router';

const DESK = new Workflow('desk', {
  kinds: { ORCHESTRATOR: null, REFUNDS: 'refund', LEGAL: 'legal' },
  routes: {
    refund: { ...closed({ cents: { type: 'integer', minimum: 1, maximum: 100_000 } }), description: 'Pays money back.' },
    legal: { ...closed({ matter: { type: 'string', maxLength: 2_000 } }), description: 'Hands the ticket to the lawyers.' },
  },
});
const LEDGER = process.env['LEDGER'] ?? 'ledger.jsonl'; // stands for a shop, a bank and a law firm

function write(what: unknown[]): unknown[] {
  appendFileSync(LEDGER, `${JSON.stringify(what)}\n`);
  return what;
}

/** Finds out whether it happened, where a desk died before it could say so. */
function lookUp(what: unknown[]): unknown[] | undefined {
  const lines = existsSync(LEDGER) ? readFileSync(LEDGER, 'utf8').split('\n').filter(Boolean) : [];
  return lines.some((line) => isDeepStrictEqual(JSON.parse(line), what)) ? what : undefined;
}

/** A stand-in for a language model, so that this runs without a key: it is a function that always says the same. */
const model: Model = ({ field, messages }) => ({ [field]: field === 'refund' ? { cents: 12_000 } : { matter: messages[0]?.content } });

async function handle(run: Run<typeof DESK, { ticket: string }>): Promise<{ paid: number }> {
  const { ticket } = run.input;
  const act = (agent: typeof run.root, key: string, ...more: unknown[]) =>
    agent.effect(key, () => write([key, ticket, ...more]), { lookup: () => lookUp([key, ticket, ...more]) });
  await act(run.root, 'find-order');
  const refunds = await run.agent('REFUNDS');
  const routed = await refunds.ask({ key: 'refund', reason: `Refund 120 € for ${ticket}?`, choices: ['yes', 'no'] });
  if (routed.decision.choices.includes('no') || routed.decision.decision === 'reject') return { paid: 0 };
  if (routed.field === 'refund') {
    const { cents } = await routed.fill(model);
    await act(run.root, 'pay', cents);
    return { paid: cents };
  }
  if (routed.field === 'legal') await act(await run.agent('LEGAL'), 'call-lawyers', (await routed.fill(model)).matter);
  return { paid: 0 };
}

const leaseMs = Number(process.env['DESK_LEASE'] ?? 30) * 1_000; // after which another desk takes the tickets of a dead one
const router = new Router({ leaseMs });
const tickets = process.argv.slice(2);
if (tickets.length === 0) await router.work(DESK, handle);
for (const ticket of tickets) {
  try {
    console.log(`${ticket}:`, await router.run(DESK, { alias: ticket, input: { ticket } }, handle));
  } catch (error) {
    if (!(error instanceof RunFinished)) throw error;
    console.log(`${ticket}: ${error.detail}`);
  }
}
