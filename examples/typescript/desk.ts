// A customers' desk: six colleagues, and a ticket on its way from one to the next until something is done.
//
//     npm start -- 17 170     works on tickets about these orders
//     npm start               takes the tickets that no worker has, until Ctrl+C
//
// Before that: `npm ci && npm run build` in clients/typescript, and `npm install` here.
//
// It uses the server of IRQ_SERVER with the token of IRQ_TOKEN. Kill it, or the server, at any moment and start it again: it goes on,
// asks nothing twice, and pays once. It is the desk of examples/desk, and of examples/python/desk.py: each of these two goes on with the
// tickets of the other.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Agent, type Decided, type Model, Router, type Run, RunFinished, Workflow, closed } from 'interrupt-router';

const text = { type: 'string', maxLength: 2_000 } as const;
const DESK = new Workflow('desk', {
  kinds: { ORCHESTRATOR: 'inquire', REVIEW_AGENT: 'check', REFUNDS: 'refund', LEGAL: 'object', SHIPPING: 'send', ARCHIVE: 'file' },
  routes: {
    inquire: { request: 'Inquiry', schema: closed({ question: text }), description: 'The customer has to say more.' },
    check: { request: 'Check', schema: closed({ doubt: text }), description: 'A colleague has to look at it again.' },
    refund: { request: 'Refund', schema: closed({ words: text }), description: 'The customer gets the money back.' },
    object: { request: 'Objection', schema: closed({ ground: text }), description: 'The company does not agree.' },
    send: { request: 'Parcel', schema: closed({ label: text }), description: 'The customer gets the order once more.' },
    file: { request: 'Note', schema: closed({ text }), description: 'There is nothing to do.' },
  },
});
const KINDS = { inquire: 'ORCHESTRATOR', check: 'REVIEW_AGENT', refund: 'REFUNDS', object: 'LEGAL', send: 'SHIPPING', file: 'ARCHIVE' } as const;
const LARGE = 10_000; // cents; above this a person says yes before anything is paid back
const LEDGER = process.env['DESK_LEDGER'] ?? 'ledger.txt'; // stands for the bank
const MODEL = process.env['OPENAI_BASE_URL']; // any server that speaks as OpenAI's does: http://127.0.0.1:8080/v1

/** Where a ticket goes on, and with which words. */
type Next = { readonly field: keyof typeof KINDS; readonly words: string };
type Ticket = { readonly order: number; readonly wish: string };

async function isPaidBack(order: number): Promise<boolean> {
  await sleep(1_000); // the bank looks into its books: time enough for a supervisor
  return existsSync(LEDGER) && readFileSync(LEDGER, 'utf8').includes(` for order ${order} (`);
}

function payBack(key: string, order: number, cents: number): string {
  appendFileSync(LEDGER, `the bank pays ${cents} cents for order ${order} (${key})\n`);
  return `paid back ${cents} cents for order ${order}`;
}

/** Finds out whether it happened, where a desk died before it could say so. */
function wasPaidBack(key: string, order: number, cents: number): string | undefined {
  const isPaid = existsSync(LEDGER) && readFileSync(LEDGER, 'utf8').includes(`(${key})\n`);
  return isPaid ? `paid back ${cents} cents for order ${order}` : undefined;
}

const model: Model = async ({ field, name, schema, messages, signal }) => {
  // A stand-in, so that this runs without a key: it repeats what it is told.
  if (MODEL === undefined) return { [field]: { [ONLY[field] ?? '']: messages[0]?.content.slice(0, 2_000) } };
  const form = { type: 'json_schema', json_schema: { name, schema, strict: true } };
  const body = JSON.stringify({ model: process.env['OPENAI_MODEL'] ?? 'gpt-5-mini', messages, response_format: form });
  const headers = { authorization: `Bearer ${process.env['OPENAI_API_KEY'] ?? 'none'}`, 'content-type': 'application/json' };
  const reply = await fetch(`${MODEL}/chat/completions`, { method: 'POST', headers, body, signal });
  if (!reply.ok) throw new Error(`the model answered ${reply.status}: ${await reply.text()}`);
  return ((await reply.json()) as { choices: [{ message: { content: string } }] }).choices[0].message.content;
};
const ONLY: Readonly<Record<string, string>> = { inquire: 'question', check: 'doubt', refund: 'words', object: 'ground', send: 'label', file: 'text' };

async function handle(run: Run<typeof DESK, Ticket>): Promise<{ lines: string[] }> {
  const { order, wish } = run.input;
  const cents = await run.root.effect('find-order', () => order * 100, { repeatable: true });
  const unread: string[] = [];
  let step: Next | string = { field: 'inquire', words: wish };
  for (let station = 1; ; station++) {
    const kind: (typeof KINDS)[Next['field']] = KINDS[step.field];
    const agent = await run.agent(kind, `${kind.toLowerCase().replaceAll('_', '-')}-${station}`);
    step = await work(agent, `station-${station}`, step, run.id, order, cents);
    unread.push(...(await read(agent, `messages-${station}`)));
    await agent.finish();
    if (typeof step !== 'string') continue;
    return { lines: [step, ...unread, ...(await read(run.root, 'messages'))] };
  }
}

/** What a colleague makes of a request: that of the next colleague, or what was done. */
async function work(agent: Agent<typeof DESK>, key: string, { field, words }: Next, run: string, order: number, cents: number): Promise<Next | string> {
  switch (field) {
    case 'inquire':
    case 'check':
      return next(await agent.ask({ key, reason: words, answerForm: 'words' }));
    case 'refund': {
      if (await agent.effect(`account-${key}`, () => isPaidBack(order), { repeatable: true })) return 'was paid back before';
      if (cents > LARGE) {
        const reason = `Pay back ${cents} cents? ${words}`;
        const answer = await agent.ask({ key, reason, answerForm: 'yes_or_no', fields: { cents } });
        // Only a yes pays. Why not is on the receipt, for a colleague to read.
        if (answer.decidedAs === 'rerouted') return next(answer);
        if (answer.decidedAs !== 'approved') return 'text' in answer && answer.text ? `not paid back: ${answer.text}` : 'not paid back';
      }
      return agent.effect('pay-back', () => payBack(run, order, cents), { lookup: () => wasPaidBack(run, order, cents) });
    }
    case 'object':
      return `objected: ${words}`;
    case 'send':
      return `sent: ${words}`;
    case 'file':
      return `filed: ${words}`;
  }
}

/** Where the ticket goes after an answer to a question that asks for one. After a no it is closed. */
async function next(answer: Decided<typeof DESK>): Promise<Next | string> {
  switch (answer.decidedAs) {
    case 'approved':
    case 'answered':
    case 'rerouted': {
      if (answer.field === null) throw new Error('every colleague of this desk has a route');
      const [words = ''] = Object.values(await answer.fill(model, 'openai'));
      return { field: answer.field, words };
    }
    case 'declined':
    case 'expired':
    case 'withdrawn':
      return 'closed without an answer';
    default:
      return answer satisfies never;
  }
}

/** What people wrote, once, and kept: a desk that dies loses none of it. */
async function read(agent: Agent<typeof DESK>, key: string): Promise<string[]> {
  return (await agent.messages(key)).map((it) => it.text);
}

const leaseMs = Number(process.env['DESK_LEASE'] ?? 30) * 1_000; // after which another desk takes the tickets of a dead one
const router = new Router({ leaseMs });
const orders = process.argv.slice(2);
if (orders.length === 0) await router.work(DESK, handle);
for (const order of orders) {
  const input = { order: Number(order), wish: `What was in order ${order} is broken` };
  try {
    console.log(`order ${order}:`, (await router.run(DESK, { alias: `order-${order}`, input }, handle)).lines[0]);
  } catch (error) {
    if (!(error instanceof RunFinished)) throw error;
    console.log(`order ${order}: ${error.detail}`);
  }
}
