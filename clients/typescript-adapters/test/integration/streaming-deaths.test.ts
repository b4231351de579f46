import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { DefaultChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import type { Operator } from 'interrupt-router';
import { eventually } from '../../../typescript/test/support/eventually.js';
import { Desk } from '../support/desk.js';
import { type Answer, call, calls, says, writes } from '../support/fake-model.js';
import { IrqServer } from '../support/irq-server.js';
import { allQuestions, openQuestion } from '../support/people.js';

const CHAT = resolve('target/example/ai-sdk-chat.js');
const SCRIPT = resolve('target/typescript-adapters/test/support/streaming-sample-process.js');
const REFUND = calls(call('call-1', 'refund', { cents: 12_000 }));
const DONE = says('120 € are paid back.');

let server: IrqServer;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  ann = await server.operator('ann');
});
after(() => server[Symbol.asyncDispose]());

/** The example, which is killed and started again at the same address. */
async function open(id: string, answers: readonly Answer[]): Promise<{ desk: Desk; page: Page; another: Page }> {
  const port = String(await freePort());
  const desk = await Desk.open(server, ann, { ticket: id, answers, program: CHAT, more: { PORT: port } });
  return { desk, page: new Page(id, port), another: new Page(id, port) };
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

/** A page with `useChat`, which posts its message again after the connection broke. */
class Page {
  readonly seen: UIMessageChunk[] = [];
  private readonly transport: DefaultChatTransport<UIMessage>;

  constructor(
    private readonly id: string,
    port: string,
  ) {
    this.transport = new DefaultChatTransport({ api: `http://127.0.0.1:${port}/api/chat` });
  }

  /** Reads the answer to its end, or until the connection breaks. */
  async post(): Promise<void> {
    const messages: UIMessage[] = [{ id: this.id, role: 'user', parts: [{ type: 'text', text: 'It arrived broken.' }] }];
    const order = { trigger: 'submit-message', chatId: 'c-1', messageId: undefined, messages, abortSignal: undefined } as const;
    this.seen.length = 0;
    const reader = (await this.transport.sendMessages(order)).getReader();
    for (let it = await reader.read(); !it.done; it = await reader.read()) this.seen.push(it.value);
  }

  get types(): string[] {
    return this.seen.map((it) => it.type).filter((it, index, all) => it !== all[index - 1] && !it.startsWith('tool-input-s'));
  }

  get text(): string {
    return this.seen.map((it) => (it.type === 'text-delta' ? it.delta : '')).join('');
  }
}

const WHOLE = [
  ...['start', 'start-step', 'tool-input-delta', 'tool-input-available', 'tool-approval-request', 'tool-approval-response'],
  ...['tool-output-available', 'finish-step', 'start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'],
];

/** Starts the program again, which streams the whole answer with nothing asked or paid twice. */
async function end({ desk, page }: { desk: Desk; page: Page }, requests: number): Promise<void> {
  await desk.start().says('listening');
  await page.post();
  assert.deepEqual([page.types, page.text], [WHOLE, '120 € are paid back.']);
  await desk.hasPaidOnce(requests);
}

test('a server of a chat that dies while an approval is open streams on with what was decided meanwhile', async () => {
  const { desk, page } = await open('open', [REFUND, DONE]);
  await using _ = desk;
  const first = desk.start();
  await first.says('listening');
  const broken = assert.rejects(page.post());
  const question = await openQuestion(ann, 'open');
  await eventually(() => page.types.at(-1) === 'tool-approval-request', 'the page shows that it waits');
  assert.equal((await first.kill()).signal, 'SIGKILL');
  await broken;
  assert.equal(await desk.approve(), question.id);
  await end({ desk, page }, 2);
  // A page that comes too late is told what the run came to.
  await page.post();
  assert.equal(page.text, '120 € are paid back.');
});

test('a second page that shows the same chat gets the whole answer, and nothing happens for it', async () => {
  const { desk, page, another } = await open('second', [REFUND, DONE]);
  await using _ = desk;
  await desk.start().says('listening');
  const posted = page.post();
  await openQuestion(ann, 'second');
  const postedAgain = another.post();
  await eventually(() => another.types.at(-1) === 'tool-approval-request', 'the second page shows that it waits');
  await desk.approve();
  await Promise.all([posted, postedAgain]);
  assert.deepEqual([page.types, another.types, another.text], [WHOLE, WHOLE, '120 € are paid back.']);
  await desk.hasPaidOnce(2);
});

for (const [point, when] of [
  ['executed', 'after a tool was executed, and before that is kept, looks whether it happened'],
  ['kept', 'between the execution of a tool and the next call of the model does not execute it again'],
] as const) {
  test(`a server of a chat that dies ${when}`, async () => {
    const { desk, page } = await open(point, [REFUND, DONE]);
    await using _ = desk;
    const first = desk.start(point);
    await first.says('listening');
    const broken = assert.rejects(page.post());
    await desk.approve();
    await first.says(`at ${point}`);
    assert.equal((await first.kill()).signal, 'SIGKILL');
    await broken;
    assert.deepEqual([desk.ledger.length, desk.model.asked.length], [1, 1]);
    await end({ desk, page }, 2);
  });
}

test('a server of a chat that dies while the model writes asks it once more, and streams its new answer', async () => {
  const { desk, page } = await open('writing', [REFUND, writes('120 € ', 'we', new Promise(() => undefined)), DONE]);
  await using _ = desk;
  const first = desk.start();
  await first.says('listening');
  const broken = assert.rejects(page.post());
  await desk.approve();
  await eventually(() => page.text === '120 € we', 'the page shows what has arrived');
  assert.equal((await first.kill()).signal, 'SIGKILL');
  await broken;
  await end({ desk, page }, 3);
});

test('a script that streams survives its process with its import changed and its run named', async () => {
  const answers = [calls(call('call-1', 'runCommand', { command: 'rm new.txt' })), says('It is gone.')];
  const more = { IRQ_RUN: 'script', IRQ_WORKFLOW: 'scripts', IRQ_LEASE_MS: '1000' };
  await using desk = await Desk.open(server, ann, { ticket: 'script', answers, program: SCRIPT, more });
  const first = desk.start();
  const question = await openQuestion(ann, 'script');
  assert.equal((await first.kill()).signal, 'SIGKILL');
  assert.equal(await desk.approve(), question.id);
  assert.deepEqual(await desk.start().end(), { code: 0, signal: null, output: 'It is gone.' });
  assert.deepEqual([desk.ledger, desk.model.asked.length], [['rm new.txt'], 2]);
  assert.equal((await allQuestions(ann, 'script')).length, 1);
});
