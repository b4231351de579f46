// A worker that a test kills, whose code wraps what it calls: `node wrapping.js`, with the file LEDGER.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EffectUnkept, Router, type Run, Workflow } from '../../src/index.js';

const { LEDGER = '' } = process.env;
const ROUNDS = [0, 1];
const workflow = new Workflow('wrapping', { kinds: { CLERK: null } });

class ToolError extends Error {}

async function pay(line: string): Promise<string> {
  await sleep(20);
  appendFileSync(LEDGER, `${line}\n`);
  await sleep(20);
  return line;
}

function wasPaid(line: string): string | undefined {
  return existsSync(LEDGER) && readFileSync(LEDGER, 'utf8').split('\n').includes(line) ? line : undefined;
}

async function handle({ root, input }: Run<typeof workflow, string>): Promise<unknown> {
  const decided: unknown[] = [];
  const read: string[] = [];
  const ask = async (round: number): Promise<unknown> => {
    try {
      const answer = await root.ask({ key: `ask-${round}`, reason: `Round ${round}?` });
      return 'decision' in answer && answer.decision?.id;
    } catch (cause) {
      throw new ToolError('the tool failed', { cause });
    }
  };
  for (const round of ROUNDS) {
    const line = `pay-${round} ${input}`;
    const paid = root.effect(`pay-${round}`, () => pay(line), { lookup: () => wasPaid(line) });
    const [said, , messages] = await Promise.all([ask(round), paid, root.messages(`read-${round}`)]);
    decided.push(said);
    read.push(...messages.map((it) => it.text));
  }
  const odd = (line: string | undefined): unknown => line && { line, cents: 2n ** 64n };
  const line = `odd ${input}`;
  try {
    await root.effect('odd', async () => odd(await pay(line)), { lookup: () => odd(wasPaid(line)) });
  } catch (error) {
    if (!(error instanceof EffectUnkept)) throw error;
  }
  read.push(...(await root.messages('rest')).map((it) => it.text));
  return { decided, read };
}

await new Router({ leaseMs: 1_000 }).work(workflow, handle, { parkAfterMs: 200 });
