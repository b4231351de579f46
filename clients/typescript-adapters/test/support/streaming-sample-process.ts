// A script that streams, as the documentation of the AI SDK shows it. It has no run, so its call makes one.
import { appendFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { z } from 'zod';
import { isStepCount, streamText, tool } from '../../src/ai-sdk.js';

const ledger = process.env['LEDGER'] ?? '';
const result = streamText({
  model: createOpenAICompatible({ name: 'model', baseURL: process.env['MODEL_URL'] ?? '' })('fake'),
  prompt: 'Remove the most recent file',
  tools: {
    runCommand: tool({
      description: 'Run a shell command',
      inputSchema: z.object({ command: z.string() }),
      execute: ({ command }) => {
        appendFileSync(ledger, `${command}\n`);
        return 'done';
      },
    }),
  },
  toolApproval: { runCommand: 'user-approval' },
  stopWhen: isStepCount(5),
});
for await (const textPart of result.textStream) {
  process.stdout.write(textPart);
}
