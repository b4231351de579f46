// The server of a chat whose page uses `useChat` of the Vercel AI SDK. A person approves what its agent does, through Interrupt Router,
// and the answer goes on in the same stream.
//
//     npm run start:ai-sdk-chat        # POST http://127.0.0.1:8080/api/chat
//
// What it needs is what ai-sdk-refund.ts needs. Kill it at any moment and start it again: a page that posts the same messages gets the
// whole answer, with what was decided meanwhile. Nothing is asked or paid twice.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { Router, Workflow, closed } from 'interrupt-router';
import {
  type TextStreamPart,
  type UIMessage,
  type UIMessageStreamWriter,
  convertToModelMessages,
  createUIMessageStream,
  durable,
  isStepCount,
  pipeUIMessageStreamToResponse,
  streamText,
  toUIMessageStream,
  tool,
} from 'interrupt-router-adapters/ai-sdk';
import { z } from 'zod';

const DESK = new Workflow('desk', {
  kinds: { DESK: null, REFUNDS: 'refund' },
  routes: { refund: { ...closed({ cents: { type: 'integer', minimum: 1, maximum: 100_000 } }), description: 'Pays money back.' } },
});
const LEDGER = process.env['LEDGER'] ?? 'ledger.jsonl'; // stands for a bank: each payment is a line of it

const { MODEL_URL = 'http://127.0.0.1:11434/v1', MODEL = 'qwen3', MODEL_KEY, PORT = '8080' } = process.env;
const provider = createOpenAICompatible({ name: 'model', baseURL: MODEL_URL, ...(MODEL_KEY !== undefined && { apiKey: MODEL_KEY }) });
const router = new Router({ leaseMs: Number(process.env['DESK_LEASE'] ?? 30) * 1_000 });

/** What this process is streaming, by the message that it answers. It can be read as often as pages want to show it. */
const streaming = new Map<string, { readonly stream: ReadableStream<TextStreamPart<any>> }>();

/** Answers the last message. Its id names the run, so a page that posts it again goes on with the same answer. */
async function answer(messages: UIMessage[], writer: UIMessageStreamWriter): Promise<void> {
  const id = messages.at(-1)?.id ?? '';
  const show = ({ stream }: { readonly stream: ReadableStream<TextStreamPart<any>> }): void => writer.merge(toUIMessageStream({ stream }));
  const known = streaming.get(id);
  if (known !== undefined) return show(known);
  const payment = (cents: number): string => JSON.stringify(['pay', id, cents]);
  const refund = tool({
    description: 'Pays money back.',
    inputSchema: z.object({ cents: z.number().int() }),
    execute: ({ cents }) => {
      appendFileSync(LEDGER, `${payment(cents)}\n`);
      return `paid ${cents} cents`;
    },
  });
  /** Finds out whether it happened, where the process died before it could say so. */
  const lookup = ({ cents }: { cents: number }): string | undefined => {
    const lines = existsSync(LEDGER) ? readFileSync(LEDGER, 'utf8').split('\n') : [];
    return lines.includes(payment(cents)) ? `paid ${cents} cents` : undefined;
  };
  let isStreamed = false;
  const code = durable<typeof DESK, UIMessage[], string>(
    async (run) => {
      let failure: { readonly error: unknown } | undefined;
      const result = streamText({
        model: provider(MODEL),
        tools: { refund },
        toolApproval: { refund: 'user-approval' },
        stopWhen: isStepCount(10),
        instructions: 'You are the chat of a shop. When the execution of a tool is not approved, do not try it again.',
        messages: await convertToModelMessages(run.input),
        onError: (event) => void (failure = event),
      });
      streaming.set(id, result);
      show(result);
      const said = await result.text;
      if (failure !== undefined) throw failure.error;
      return said;
    },
    { kinds: { refund: 'REFUNDS' }, effects: { refund: { lookup } } },
  );
  const said = await router.run(DESK, { alias: id, input: messages }, code).finally(() => (isStreamed = streaming.delete(id)));
  if (isStreamed) return;
  // The run had ended before, so this page only wants to know what it came to.
  writer.write({ type: 'text-start', id });
  writer.write({ type: 'text-delta', id, delta: said });
  writer.write({ type: 'text-end', id });
}

const server = createServer((request, response) => {
  const stream = createUIMessageStream({
    execute: async ({ writer }) => {
      const { messages } = JSON.parse(await text(request)) as { messages: UIMessage[] };
      await answer(messages, writer);
    },
    onError: String,
  });
  pipeUIMessageStreamToResponse({ response, stream });
});
server.listen(Number(PORT), '127.0.0.1', () => console.log('listening'));
