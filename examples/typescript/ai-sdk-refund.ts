// An agent of the Vercel AI SDK whose tool calls a person approves through Interrupt Router.
//
//     npm run start:ai-sdk -- ticket-17
//
// Before that: `npm ci && npm run build` in clients/typescript and in clients/typescript-adapters, and `npm install` here. Any server
// that speaks the wire of OpenAI will do: MODEL_URL (http://127.0.0.1:11434/v1, where Ollama listens), MODEL, and MODEL_KEY if it wants one.
//
// It uses the server of IRQ_SERVER with the token of IRQ_TOKEN. Kill it at any moment and start it again: the agent goes on where it was,
// with what was decided meanwhile, asks nothing twice, and pays once.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Router, RunFinished, Workflow, closed } from 'interrupt-router';
import { durable, generateText, isStepCount, tool } from 'interrupt-router-adapters/ai-sdk';
import { z } from 'zod';

// The arguments of the tool are the request of its route, so the server checks them, and people can edit them.
const DESK = new Workflow('desk', {
  kinds: { DESK: null, REFUNDS: 'refund' },
  routes: { refund: { ...closed({ cents: { type: 'integer', minimum: 1, maximum: 100_000 } }), description: 'Pays money back.' } },
});
const LEDGER = process.env['LEDGER'] ?? 'ledger.jsonl'; // stands for a bank: each payment is a line of it

const { MODEL_URL = 'http://127.0.0.1:11434/v1', MODEL = 'qwen3', MODEL_KEY } = process.env;
const provider = createOpenAICompatible({ name: 'model', baseURL: MODEL_URL, ...(MODEL_KEY !== undefined && { apiKey: MODEL_KEY }) });

function payment(ticket: string, cents: number): string {
  return JSON.stringify(['pay', ticket, cents]);
}

/** Finds out whether it happened, where the process died before it could say so. */
function lookUp(ticket: string, cents: number): string | undefined {
  const lines = existsSync(LEDGER) ? readFileSync(LEDGER, 'utf8').split('\n') : [];
  return lines.includes(payment(ticket, cents)) ? `paid ${cents} cents` : undefined;
}

async function handle(ticket: string): Promise<string> {
  const { text } = await generateText({
    model: provider(MODEL),
    tools: {
      refund: tool({
        description: 'Pays money back.',
        inputSchema: z.object({ cents: z.number().int() }),
        execute: ({ cents }) => {
          appendFileSync(LEDGER, `${payment(ticket, cents)}\n`);
          return `paid ${cents} cents`;
        },
      }),
    },
    toolApproval: { refund: 'user-approval' },
    stopWhen: isStepCount(10),
    instructions: 'You settle tickets of a shop. When the execution of a tool is not approved, do not try it again.',
    prompt: `The order of ${ticket} arrived broken. It cost 120 €. Pay it back, and say in one sentence what you did.`,
  });
  return text;
}

const leaseMs = Number(process.env['DESK_LEASE'] ?? 30) * 1_000; // after which another desk takes the tickets of a dead one
const ticket = process.argv[2] ?? 'ticket-17';
const handler = durable<typeof DESK, string, string>((run) => handle(run.input), {
  kinds: { refund: 'REFUNDS' },
  effects: { refund: { lookup: ({ cents }: { cents: number }) => lookUp(ticket, cents) } },
});
try {
  console.log(`${ticket}:`, await new Router({ leaseMs }).run(DESK, { alias: ticket, input: ticket }, handler));
} catch (error) {
  if (!(error instanceof RunFinished)) throw error;
  console.log(`${ticket}: ${error.detail}`);
}
