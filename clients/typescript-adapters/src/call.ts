import type { LanguageModel, ModelMessage, PrepareStepFunction, ToolSet } from 'ai';
import { type Effect, IdempotencyConflict, RouterError } from 'interrupt-router';
import { type Request, type Verdict, askApproval, waitingCalls } from './approval.js';
import { digest, keyOf } from './keys.js';
import { durableModel } from './model.js';
import { type Place, at } from './place.js';
import { durableTools } from './tools.js';

/** What is generated between two approvals. */
export interface Generation {
  readonly content: readonly { readonly type: string }[];
  readonly responseMessages: ModelMessage[];
  readonly text: string;
}

/** The settings of a call that matter here. */
export interface Settings {
  readonly model: LanguageModel;
  readonly tools?: ToolSet;
  readonly prepareStep?: PrepareStepFunction<any, any>;
}

/** Calls a model with tools until it wants an approval, or ends. */
export type Generate<G extends Generation> = (messages: ModelMessage[], abortSignal: AbortSignal) => Promise<G>;

/** Hears of each decision at once, when the others of the same answer may still be open. */
export type Decided = (request: Request, verdict: Verdict) => void;

/** What a tool came to. An error is kept as well: the model has read it. */
type Kept = { readonly output?: unknown } | { readonly error: string };

/** One call of a model with tools, from the prompt to the end, over all its approvals. */
export class Call {
  private readonly name: string;
  private readonly broken = new AbortController();
  private readonly signal: AbortSignal;
  private readonly models = new WeakSet<object>();
  private answers = 0;

  constructor(
    private readonly place: Place,
    given: AbortSignal | undefined,
  ) {
    this.name = place.nextCall();
    const { immediate } = place.run.root;
    this.signal = AbortSignal.any([immediate, this.broken.signal, ...(given === undefined ? [] : [given])]);
  }

  /** The settings with a model and tools that do nothing twice. */
  settings<S extends Settings>(settings: S): S {
    const { model, tools, prepareStep } = settings;
    return {
      ...settings,
      model: this.model(model),
      ...(tools !== undefined && { tools: durableTools(tools, (...call) => this.execute(...call)) }),
      ...(prepareStep !== undefined && { prepareStep: this.prepareStep(prepareStep) }),
    };
  }

  /** Generates, asks people, and goes on with what they decided, until nothing is left to decide. */
  async run<G extends Generation>(prompt: readonly ModelMessage[], generate: Generate<G>, decided?: Decided): Promise<G> {
    const made: ModelMessage[] = [];
    for (;;) {
      const result = await this.guarded(generate([...prompt, ...made], this.signal));
      const waiting = waitingCalls(result.content);
      const verdicts = await Promise.all(waiting.map((it) => this.ask(it, decided)));
      const inputs = new Map(waiting.map((it, index) => [it.toolCall.toolCallId, verdicts[index]]));
      made.push(...result.responseMessages.map((it) => edited(it, inputs)));
      // What the application adds to its messages is the whole story, as if there had been one call.
      if (waiting.length === 0) return Object.defineProperty(result, 'responseMessages', { value: made });
      made.push({ role: 'tool', content: verdicts.map((it) => it.response) });
    }
  }

  private async ask(request: Request, decided: Decided | undefined): Promise<Verdict> {
    const verdict = await askApproval(this.place, this.key(request.toolCall.toolCallId), request);
    decided?.(request, verdict);
    return verdict;
  }

  private model(model: LanguageModel): LanguageModel {
    if (typeof model === 'object' && this.models.has(model)) return model;
    const durable = durableModel(model, (...asked) => this.answer(...asked));
    this.models.add(durable as object);
    return durable;
  }

  private prepareStep(prepareStep: PrepareStepFunction<any, any>): PrepareStepFunction<any, any> {
    return async (options) => {
      const step = await prepareStep(options);
      return step?.model === undefined ? step : { ...step, model: this.model(step.model) };
    };
  }

  /** A model is asked again where it failed, or its worker died before the answer was kept. What is kept answers what was asked, and nothing else. */
  private async answer(call: () => Promise<unknown>, asked: unknown): Promise<unknown> {
    const key = keyOf(this.name, 'model', this.answers + 1);
    const answer = await this.place.run.root.effect(key, call, { repeatable: true, arguments: digest(asked) }).catch((error) => {
      // The SDK tries again what a model throws, and a stream that failed only says so. The run has to end.
      throw error instanceof RouterError ? this.halt(error) : error;
    });
    this.answers += 1;
    const conflict = ambiguity(answer);
    return conflict === undefined ? answer : this.halt(conflict);
  }

  private async execute(name: string, input: unknown, toolCallId: string, execute: () => unknown): Promise<unknown> {
    const { run, options } = this.place;
    const { lookup, ...rest } = options.effects?.[name] ?? {};
    const key = this.key(toolCallId);
    const found = async (effect: Effect): Promise<Kept | undefined> => {
      const output = await lookup?.(input, effect);
      return output === undefined ? undefined : { output };
    };
    const work = (): Promise<Kept> => at(this.place.within(key), () => this.outcome(execute));
    const kept = await run.root.effect(key, work, { ...rest, arguments: { tool: name, input }, ...(lookup && { lookup: found }) }).catch((error) => this.halt(error));
    if ('error' in kept) throw new Error(kept.error);
    return kept.output;
  }

  private async outcome(execute: () => unknown): Promise<Kept> {
    try {
      return { output: await execute() };
    } catch (error) {
      // It was cut off, or the run has to end: that is no answer for the model.
      if (error instanceof RouterError || this.signal.aborted) throw error;
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  /** The SDK tells the model of what a tool throws, and goes on. It must not, where the run does not. */
  private halt(error: unknown): never {
    this.broken.abort(error);
    throw error;
  }

  private async guarded<G>(generating: Promise<G>): Promise<G> {
    try {
      const result = await generating;
      this.broken.signal.throwIfAborted();
      return result;
    } catch (error) {
      // What is cut off fails in many ways.
      throw this.broken.signal.aborted ? this.broken.signal.reason : error;
    }
  }

  /** Some providers count the calls of each answer from the start, so the answer is a part of the key. */
  private key(toolCallId: string): string {
    return keyOf(this.name, 'tool', this.answers, toolCallId);
  }
}

/** A part of a model's answer, as far as it matters here. */
type Part = { readonly type: string; readonly toolCallId: string; readonly toolName: string; readonly input: unknown };

/** A model chooses the ids of its calls. A decision about one of them must not be taken for that about another one. */
function ambiguity(answer: unknown): IdempotencyConflict | undefined {
  const parts = (Array.isArray(answer) ? answer : (answer as { readonly content: unknown }).content) as readonly Part[];
  const calls = new Map<string, string>();
  for (const { type, toolCallId, toolName, input } of parts) {
    if (type !== 'tool-call') continue;
    const called = JSON.stringify([toolName, input]);
    if ((calls.get(toolCallId) ?? called) !== called) {
      const detail = `the model calls two things by the id ${toolCallId}, so nothing of its answer is asked about or executed`;
      const hint = 'use a provider that gives each call of an answer an id of its own';
      return new IdempotencyConflict({ code: 'idempotency-conflict', detail, hint });
    }
    calls.set(toolCallId, called);
  }
  return undefined;
}

/** The tool calls with the input that people gave instead of the model's: the SDK executes what its messages say. */
function edited(message: ModelMessage, verdicts: ReadonlyMap<string, Verdict | undefined>): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content = message.content.map((part) => {
    const verdict = 'toolCallId' in part ? verdicts.get(part.toolCallId) : undefined;
    if (verdict === undefined || !('input' in verdict)) return part;
    if (part.type === 'tool-call') return { ...part, input: verdict.input };
    if (part.type !== 'tool-approval-request') return part;
    const { inputSchemaInput: _, ...request } = part;
    return request;
  });
  return { ...message, content };
}
