import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DefaultChatTransport, type UIMessage, lastAssistantMessageIsCompleteWithApprovalResponses, readUIMessageStream } from 'ai';
import type { DecisionName, DecisionOptions, Interrupt, Operator, Router } from 'interrupt-router';
import { z } from 'zod';
import { type ModelMessage, type TextStreamPart, ToolLoopAgent, durable, isStepCount, streamText, tool } from '../../src/ai-sdk.js';
import { eventually } from '../../../typescript/test/support/eventually.js';
import { type Answer, FakeModel, breaks, call, calls, says, writes } from '../support/fake-model.js';
import { IrqServer } from '../support/irq-server.js';
import { allQuestions, desk, openQuestion, openQuestions } from '../support/people.js';
import { route } from '../support/streaming-sample.js';

let server: IrqServer;
let router: Router;
let ann: Operator;

before(async () => {
  server = await IrqServer.start();
  router = await server.router(desk);
  ann = await server.operator('ann');
  const token = await server.token('--role', 'worker', '--workflow', 'ai-sdk');
  Object.assign(process.env, { IRQ_SERVER: server.url, IRQ_TOKEN: token });
});
after(() => server[Symbol.asyncDispose]());

const REFUND = call('call-1', 'refund', { cents: 500 });
const options = { kinds: { refund: 'REFUNDS' } } as const;

type Parts = TextStreamPart<any>[];

/** A refund, and what was paid. */
function till() {
  const paid: number[] = [];
  const execute = ({ cents }: { cents: number }): string => (paid.push(cents), `paid ${cents}`);
  return { paid, refund: tool({ inputSchema: z.object({ cents: z.number() }), execute, needsApproval: true }) };
}

/** Streams as an agent that may pay back once a person has approved. */
function settle(alias: string, fake: FakeModel, refund: ReturnType<typeof till>['refund'], seen: Parts = []) {
  const code = durable<typeof desk, null, { text: string; steps: number; roles: string[]; tokens: number | undefined }>(async () => {
    const result = streamText({ model: fake.model, tools: { refund }, stopWhen: isStepCount(5), prompt: 'Settle it.' });
    for await (const part of result.stream) seen.push(part);
    const { totalTokens } = await result.usage;
    const roles = (await result.responseMessages).map((it) => it.role);
    return { text: await result.text, steps: (await result.steps).length, roles, tokens: totalTokens };
  }, options);
  return router.run(desk, { alias, input: null }, code);
}

function types(parts: Parts): string[] {
  return parts.map((it) => it.type).filter((it, index, all) => it !== all[index - 1] && !/-input-/.test(it));
}

test('text is there as it arrives', async () => {
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => (go = resolve));
  await using fake = await FakeModel.start(writes('One', gate, ' and two.'));
  const seen: string[] = [];
  const code = durable<typeof desk, null, string>(async () => {
    const result = streamText({ model: fake.model, prompt: 'Count.' });
    for await (const text of result.textStream) {
      seen.push(text);
      // The model goes on only once the first piece has come through.
      go();
    }
    return result.text;
  });
  assert.equal(await router.run(desk, { alias: 'arrives', input: null }, code), 'One and two.');
  assert.deepEqual(seen, ['One', ' and two.']);
});

test('the stream goes on with the decision of a person', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Paid back.'));
  const { paid, refund } = till();
  const seen: Parts = [];
  const working = settle('goes-on', fake, refund, seen);
  const question = await openQuestion(ann, 'goes-on');
  assert.deepEqual(question.fields, { tool: 'refund', arguments: { cents: 500 } });
  assert.deepEqual([types(seen).at(-1), paid], ['tool-approval-request', []]);
  await ann.decide(question, 'approve');
  assert.deepEqual(await working, { text: 'Paid back.', steps: 2, roles: ['assistant', 'tool', 'assistant'], tokens: 30 });
  assert.deepEqual(types(seen), [
    ...['start', 'start-step', 'tool-call', 'tool-approval-request', 'tool-approval-response', 'tool-result', 'finish-step'],
    ...['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'],
  ]);
  assert.deepEqual([paid, fake.read, fake.asked.length], [[500], ['paid 500'], 2]);
});

test('a chat shows the whole answer in one stream, and needs no change but its import', async () => {
  await using fake = await FakeModel.start(calls(call('call-1', 'getWeather', { city: 'Bonn' })), says('It rains.'));
  const asked: string[] = [];
  const post = route(fake.model, (city) => (asked.push(city), 'rain'));
  process.env['IRQ_RUN'] = 'chat';
  const messages: UIMessage[] = [{ id: 'm-1', role: 'user', parts: [{ type: 'text', text: 'How is the weather in Bonn?' }] }];
  // What `useChat` does on the page.
  const transport = new DefaultChatTransport({ fetch: (_, init) => post(new Request('http://page/api/chat', init)) });
  const order = { trigger: 'submit-message', chatId: 'c-1', messageId: undefined, messages, abortSignal: undefined } as const;
  const shown: UIMessage[] = [];
  const showing = (async () => {
    for await (const it of readUIMessageStream({ stream: await transport.sendMessages(order) })) shown.push(structuredClone(it));
  })();
  const question = await openQuestion(ann, 'chat');
  delete process.env['IRQ_RUN'];
  assert.deepEqual(asked, []);
  await ann.decide(question, 'approve');
  await showing;
  assert.deepEqual([asked, fake.read], [['Bonn'], ['rain']]);
  const waiting = shown.flatMap((it) => it.parts).filter((it) => 'state' in it && it.state === 'approval-requested');
  // The page shows that it waits. It has no buttons for what the router asks, and does not post again afterwards.
  assert.ok(waiting.length > 0 && waiting.every((it) => 'approval' in it && it.approval?.isAutomatic));
  const last = shown.at(-1) as UIMessage;
  assert.equal(lastAssistantMessageIsCompleteWithApprovalResponses({ messages: [...messages, last] }), false);
  assert.deepEqual(
    last.parts.map((it) => ('text' in it ? it.text : 'output' in it ? it.output : it.type)),
    ['step-start', 'rain', 'step-start', 'It rains.'],
  );
  assert.equal((await ann.run('chat')).status, 'completed');
});

const REFUSALS: readonly (readonly [DecisionName, DecisionOptions, string])[] = [
  ['reject', {}, 'The tool call was rejected.'],
  ['cancel', { text: 'Ask for a photo.' }, 'Ask for a photo.'],
];
for (const [decision, said, read] of REFUSALS) {
  test(`after ${decision} the stream shows a denial, and the model reads: ${read}`, async () => {
    await using fake = await FakeModel.start(calls(REFUND), says('I see.'));
    const { paid, refund } = till();
    const seen: Parts = [];
    const working = settle(decision, fake, refund, seen);
    await ann.decide(await openQuestion(ann, decision), decision, said);
    assert.equal((await working).text, 'I see.');
    assert.deepEqual([paid, fake.read], [[], [read]]);
    assert.deepEqual(types(seen).slice(3, 7), ['tool-approval-request', 'tool-approval-response', 'tool-output-denied', 'finish-step']);
  });
}

test('the stream, the page, the messages and the model see the arguments that a person has edited', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Done.'));
  const { paid, refund } = till();
  let page: UIMessage | undefined;
  const code = durable<typeof desk, null, unknown>(async () => {
    const result = streamText({ model: fake.model, tools: { refund }, stopWhen: isStepCount(5), prompt: 'Settle it.' });
    for await (page of readUIMessageStream({ stream: result.toUIMessageStream() }));
    const parts = (await result.responseMessages).flatMap((it): readonly { type: string; input?: unknown }[] =>
      typeof it.content === 'string' ? [] : it.content,
    );
    return parts.filter((it) => it.type === 'tool-call').map((it) => it.input);
  }, options);
  const working = router.run(desk, { alias: 'edited', input: null }, code);
  await ann.decide(await openQuestion(ann, 'edited'), 'edit', { request: { cents: 3 } });
  assert.deepEqual(await working, [{ cents: 3 }]);
  const shown = page?.parts.flatMap((it) => ('input' in it ? [it.input, it.output] : []));
  assert.deepEqual([paid, fake.read, shown], [[3], ['paid 3'], [{ cents: 3 }, 'paid 3']]);
  assert.match(JSON.stringify(fake.asked.at(-1)), /cents\\":3/);
});

test('the calls of one answer are asked about at once, and each decision is shown at once', async () => {
  await using fake = await FakeModel.start(calls(REFUND, call('call-2', 'refund', { cents: 7 })), says('Done.'));
  const { paid, refund } = till();
  const seen: Parts = [];
  const working = settle('together', fake, refund, seen);
  const [first, second] = (await openQuestions(ann, 'together', 2)) as [Interrupt, Interrupt];
  await ann.decide(first, 'approve');
  await eventually(() => types(seen).at(-1) === 'tool-approval-response', 'the decision is shown');
  assert.deepEqual(paid, []);
  await ann.decide(second, 'approve');
  assert.equal((await working).text, 'Done.');
  assert.deepEqual([paid.sort(), fake.read.length], [[500, 7], 2]);
});

test('callbacks about the whole call come once, with all of it', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Done.'));
  const { paid, refund } = till();
  const told: unknown[] = [];
  const code = durable<typeof desk, null, string>(async () => {
    const result = streamText({
      model: fake.model,
      tools: { refund },
      stopWhen: isStepCount(5),
      prompt: 'Settle it.',
      onStepEnd: ({ stepNumber, toolResults }) => void told.push([stepNumber, toolResults.map((it) => it.output)]),
      onEnd: ({ text, steps, responseMessages }) => void told.push([text, steps.length, responseMessages.length]),
    });
    return result.text;
  }, options);
  const working = router.run(desk, { alias: 'callbacks', input: null }, code);
  await ann.decide(await openQuestion(ann, 'callbacks'), 'approve');
  await working;
  assert.deepEqual([told, paid], [[[0, ['paid 500']], [1, []], ['Done.', 2, 3]], [500]]);
});

test('an agent of the SDK streams to the end, too', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Done.'));
  const { paid, refund } = till();
  const ends: string[] = [];
  const agent = new ToolLoopAgent({ model: fake.model, tools: { refund }, onEnd: ({ text }) => void ends.push(`agent: ${text}`) });
  const code = durable<typeof desk, null, string>(async () => {
    const result = await agent.stream({ prompt: 'Settle it.', onEnd: ({ text }) => void ends.push(`call: ${text}`) });
    let all = '';
    for await (const text of result.textStream) all += text;
    return all;
  }, options);
  const working = router.run(desk, { alias: 'agent', input: null }, code);
  await ann.decide(await openQuestion(ann, 'agent'), 'approve');
  assert.equal(await working, 'Done.');
  assert.deepEqual([paid, fake.read, ends], [[500], ['paid 500'], ['agent: Done.', 'call: Done.']]);
});

test('code that asks people itself finds nothing left to ask', async () => {
  await using fake = await FakeModel.start(calls(REFUND), says('Paid back.'));
  const { refund } = till();
  const code = durable<typeof desk, null, string[]>(async () => {
    const messages: ModelMessage[] = [{ role: 'user', content: 'Settle it.' }];
    const settings = { model: fake.model, tools: { refund } };
    const result = streamText({ ...settings, messages });
    messages.push(...(await result.responseMessages));
    const waiting = (await result.content).filter((it) => it.type === 'tool-approval-request' && !it.isAutomatic);
    messages.push({ role: 'tool', content: waiting.map(() => assert.fail('it was asked before')) });
    return [await result.text, await streamText({ ...settings, messages }).text];
  }, options);
  const working = router.run(desk, { alias: 'asks-itself', input: null }, code);
  await ann.decide(await openQuestion(ann, 'asks-itself'), 'approve');
  assert.deepEqual(await working, ['Paid back.', 'Paid back.']);
  assert.deepEqual([fake.asked.length, (await allQuestions(ann, 'asks-itself')).length], [2, 1]);
});

test('a model that fails ends the stream with an error, and its run has failed', async () => {
  await using fake = await FakeModel.start();
  process.env['IRQ_RUN'] = 'fails';
  const errors: unknown[] = [];
  const result = streamText({ model: fake.model, prompt: 'Settle it.', onError: ({ error }) => void errors.push(error) });
  delete process.env['IRQ_RUN'];
  const seen: Parts = [];
  for await (const part of result.stream) seen.push(part);
  assert.deepEqual([types(seen), errors.length], [['start', 'error'], 1]);
  await assert.rejects(async () => result.text, /No output generated/);
  // It is the second call of this process.
  await eventually(async () => (await ann.run('fails-2')).status === 'failed', 'the run has failed');
});

test('a model that fails after an approval fails no code, as without the router: the code hears of it and decides', async () => {
  await using fake = await FakeModel.start(calls(REFUND));
  const { paid, refund } = till();
  const code = durable<typeof desk, null, string>(async () => {
    let failure: unknown;
    const onError = ({ error }: { error: unknown }): void => void (failure = error);
    const result = streamText({ model: fake.model, tools: { refund }, stopWhen: isStepCount(5), prompt: 'Settle it.', onError });
    assert.deepEqual([await result.text, await result.finishReason], ['', 'other']);
    throw failure;
  }, options);
  const working = router.run(desk, { alias: 'fails-late', input: null }, code);
  working.catch(() => undefined);
  await ann.decide(await openQuestion(ann, 'fails-late'), 'approve');
  await assert.rejects(working, /the test expects no further request/);
  assert.deepEqual([paid, (await ann.run('fails-late')).status], [[500], 'failed']);
});

test('a model that is busy is asked again, as without the router', async () => {
  const busy: Answer = (response) => void response.writeHead(503, { 'retry-after-ms': '1' }).end('{}');
  await using fake = await FakeModel.start(busy, says('Here I am.'));
  const code = durable<typeof desk, null, string>(async () => streamText({ model: fake.model, prompt: 'Where are you?' }).text);
  assert.equal(await router.run(desk, { alias: 'busy', input: null }, code), 'Here I am.');
  assert.equal(fake.asked.length, 2);
});

test('an answer that broke off is no answer: the stream throws, and nothing that it called for is asked about or done', async () => {
  await using fake = await FakeModel.start(breaks('It ', 'is', REFUND), says('It is over.'));
  const { paid, refund } = till();
  const seen: string[][] = [];
  const code = durable<typeof desk, null, string>(async () => {
    for (;;) {
      const texts: string[] = [];
      seen.push(texts);
      try {
        for await (const text of streamText({ model: fake.model, tools: { refund }, prompt: 'Is it?' }).textStream) texts.push(text);
        return texts.join('');
      } catch (error) {
        assert.match(String(error), /Failed to process successful response/);
      }
    }
  });
  assert.equal(await router.run(desk, { alias: 'broken', input: null }, code), 'It is over.');
  assert.deepEqual([seen, paid], [[['It ', 'is'], ['It ', 'is ', 'over.']], []]);
  assert.deepEqual(await allQuestions(ann, 'broken'), []);
});

test('the signal of the application aborts the stream as without the router', async () => {
  await using fake = await FakeModel.start(writes('One', new Promise(() => undefined)));
  const leaving = new AbortController();
  const code = durable<typeof desk, null, unknown>(async () => {
    let aborted = 0;
    const { signal: abortSignal } = leaving;
    const result = streamText({ model: fake.model, prompt: 'Count.', abortSignal, onAbort: () => void (aborted += 1) });
    const seen: Parts = [];
    for await (const part of result.stream) {
      seen.push(part);
      if (part.type === 'text-delta') leaving.abort(new Error('enough'));
    }
    await assert.rejects(async () => result.text, /enough/);
    return [types(seen).at(-1), aborted];
  });
  assert.deepEqual(await router.run(desk, { alias: 'left', input: null }, code), ['abort', 1]);
  await eventually(() => fake.cutOff === 1, 'the request is cut off');
});
