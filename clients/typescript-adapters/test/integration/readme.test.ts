import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Operator } from 'interrupt-router';
import { BINARY } from '../../../typescript/test/support/irq-process.js';
import { MortalProcess } from '../../../typescript/test/support/mortal-process.js';
import { compiled } from '../../../typescript/test/support/readme.js';
import { FakeModel, call, calls, says } from '../support/fake-model.js';
import { openQuestion } from '../support/people.js';

/** What the snippets after the first one take for granted. */
const ASSUMED = `
import { type DurableOptions, type LanguageModel, type ModelMessage, type ToolSet, type UIMessageStreamWriter, durable, generateText, slot, streamText, toUIMessageStream } from 'interrupt-router-adapters/ai-sdk';
import type { Handler, Workflow } from 'interrupt-router';
declare const code: Handler<Workflow, unknown, string>, model: LanguageModel, messages: ModelMessage[], writer: UIMessageStreamWriter;
declare const refund: ToolSet[string], bank: { payment(order: number, cents: number): Promise<string | undefined> };`;

for (const [decision, read] of [
  ['approve', 'paid 500'],
  ['reject', 'The tool call was rejected.'],
] as const) {
  test(`the first snippet of the README runs as it stands; after ${decision} the model reads: ${read}`, async () => {
    await using fake = await FakeModel.start(calls(call('call-1', 'refund', { cents: 500 })), says('Settled.'));
    const home = await mkdtemp(join(tmpdir(), 'irq-readme-'));
    const env = { PATH: process.env['PATH'], HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, IRQ_BINARY: BINARY, MODEL_URL: fake.url };
    const desk = new MortalProcess([compiled(ASSUMED)], env);
    const [, server = ''] = await desk.tells(/Answer on (http:\/\/[^/]*)\//);
    const token = execFileSync(BINARY, ['token', 'create', '--name', 'ann', '--role', 'supervisor'], { env, encoding: 'utf8' }).trim();
    const ann = new Operator({ server, token });
    await ann.decide(await openQuestion(ann, 'ticket-17'), decision);
    const { code, output } = await desk.end();
    assert.deepEqual([code, output.split('\n').at(-2), fake.read], [0, 'Settled.', [read]], output);
    await rm(home, { recursive: true, force: true });
  });
}
