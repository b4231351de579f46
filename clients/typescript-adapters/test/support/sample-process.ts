// The sample of the SDK as a program of its own: it has no run, so each call makes one.
import { appendFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { sample } from './sample.js';

const model = createOpenAICompatible({ name: 'model', baseURL: process.env['MODEL_URL'] ?? '' })('fake');
const ledger = process.env['LEDGER'] ?? '';
console.log(
  await sample(model, (command) => {
    appendFileSync(ledger, `${command}\n`);
    return 'done';
  }),
);
