import * as sdk from 'ai';
import { addLanguageModelUsage } from 'ai/internal';
import { RouterError } from 'interrupt-router';
import type { Request, Verdict } from './approval.js';
import type { Generation, Settings } from './call.js';
import { resolved } from './model.js';

export type StreamResult = sdk.StreamTextResult<any, any, any>;
type Part = sdk.TextStreamPart<sdk.ToolSet>;
type PartOf<T extends Part['type']> = Extract<Part, { type: T }>;
/** A tool call that was passed on. What is recorded is this object, so a person's edit can still change it. */
type Call = PartOf<'tool-call'>;

/** The callbacks about the whole call. */
export type WholeCallCallbacks = Readonly<Record<'onStepEnd' | 'onEnd' | 'onAbort', ((event: any) => unknown) | undefined>>;

/** What the result needs to know of the settings. */
export interface JoinedSettings extends Pick<Settings, 'model' | 'tools'> {
  readonly output?: unknown;
  readonly runtimeContext?: unknown;
  readonly toolsContext?: unknown;
}

/**
 * One result of `streamText` over all the generations between approvals. It shows what a person decides like an automatic approval: the
 * step ends once its tools were executed.
 */
export class JoinedStream {
  readonly result: StreamResult;
  private readonly aborting = new AbortController();
  private readonly calls = new Map<string, Call>();
  private readonly edited = new Set<string>();
  private out!: TransformStreamDefaultController<Part>;
  private begun!: () => void;
  private close!: () => void;
  private readonly beginning = new Promise<void>((resolve) => (this.begun = resolve));
  private readonly ended = new Promise<void>((resolve) => (this.close = resolve));
  private generation = 0;
  private step: PartOf<'finish-step'> | undefined;
  private finish: PartOf<'finish'> | undefined;
  private usage: sdk.LanguageModelUsage | undefined;
  private ending: 'finished' | 'failed' | 'aborted' = 'finished';

  constructor({ model, tools, output, runtimeContext, toolsContext }: JoinedSettings, callbacks: WholeCallCallbacks) {
    // The SDK makes the result of a model that says nothing, and what is generated takes the place of that.
    const replacing = new TransformStream<Part, Part>({
      start: (out) => void (this.out = out),
      transform: (part, out) => {
        if (part.type === 'start-step') this.begun();
        if (part.type === 'abort') out.enqueue(part);
      },
    });
    const transform = ({ stopStream }: { stopStream: () => void }): TransformStream<Part, Part> => {
      // The SDK takes no end before its beginning.
      void this.beginning.then(() => this.ended).then(stopStream);
      return replacing;
    };
    const shell = {
      ...{ tools, output, runtimeContext, toolsContext, ...callbacks },
      model: silent(model),
      messages: [{ role: 'user', content: '' }],
      activeTools: [],
      onError: () => undefined,
      telemetry: { isEnabled: false },
      abortSignal: this.aborting.signal,
      experimental_transform: transform,
    };
    this.result = sdk.streamText(shell as never);
    const stream = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(this.result), 'stream')?.get;
    Object.defineProperty(this.result, 'stream', { get: () => (stream?.call(this.result) as ReadableStream<Part>).pipeThrough(this.edits()) });
  }

  /** Passes on what is generated until an approval is wanted, or to the end. */
  async pass(generated: StreamResult): Promise<Generation> {
    this.generation += 1;
    let failure: PartOf<'error'> | undefined;
    for await (const part of generated.stream) {
      if (part.type === 'error') failure = part;
      this.put(part);
    }
    if (failure !== undefined) throw failure.error;
    const [content, responseMessages, text] = await Promise.all([generated.content, generated.responseMessages, generated.text]);
    return { content, responseMessages, text };
  }

  /** Passes a person's decision on. */
  readonly decided = ({ approvalId, toolCall }: Request, verdict: Verdict): void => {
    const call = this.calls.get(toolCall.toolCallId) as Call;
    const { type, approved, reason, providerExecuted } = verdict.response;
    if ('input' in verdict) {
      call.input = verdict.input;
      this.edited.add(approvalId);
    }
    const more = { ...(reason !== undefined && { reason }), ...(providerExecuted !== undefined && { providerExecuted }) };
    this.out.enqueue({ type, approvalId, approved, toolCall: call, ...more });
  };

  /** Ends the stream as the SDK does: what the generations have said about a failure is enough. */
  end(error?: unknown): void {
    const isTold = this.ending !== 'finished';
    if (error instanceof RouterError || (error !== undefined && !isTold)) this.out.error(error);
    else if (this.ending === 'aborted') this.aborting.abort(error);
    else {
      this.release();
      if (this.finish !== undefined) this.out.enqueue(this.finish);
      this.close();
    }
  }

  private put(part: Part): void {
    switch (part.type) {
      case 'start':
        if (this.generation === 1) this.out.enqueue(part);
        this.finish = undefined;
        return;
      case 'finish-step':
        this.step = part;
        return;
      case 'finish':
        this.usage = this.usage === undefined ? part.totalUsage : addLanguageModelUsage(this.usage, part.totalUsage);
        this.finish = { ...part, totalUsage: this.usage };
        return;
      case 'abort':
        this.ending = 'aborted';
        return;
      case 'error':
        this.ending = 'failed';
        break;
      case 'start-step':
        this.release();
        break;
      case 'tool-call': {
        const call = { ...part };
        this.calls.set(part.toolCallId, call);
        this.out.enqueue(call);
        return;
      }
      case 'tool-approval-request':
        // The router asks: a page that shows the stream has nobody to ask.
        this.out.enqueue({ ...part, isAutomatic: true, toolCall: this.calls.get(part.toolCall.toolCallId) ?? part.toolCall });
        return;
    }
    // Each generation counts its texts from the start.
    const isText = /^(text|reasoning)-(start|delta|end)$/.test(part.type);
    this.out.enqueue(isText ? ({ ...part, id: `${this.generation}-${(part as PartOf<'text-start'>).id}` } as Part) : part);
  }

  /** Ends a step. It has waited for the decisions and for what became of them. */
  private release(): void {
    if (this.step !== undefined) this.out.enqueue(this.step);
    this.step = undefined;
  }

  /** Shows a tool call once more where a person has edited it. It is recorded once. */
  private edits(): TransformStream<Part, Part> {
    return new TransformStream({
      transform: (part, out) => {
        if (part.type === 'tool-approval-response' && this.edited.has(part.approvalId)) out.enqueue(part.toolCall as PartOf<'tool-call'>);
        out.enqueue(part);
      },
    });
  }
}

/** A model that begins to answer, and says nothing. */
function silent(model: sdk.LanguageModel): sdk.LanguageModel {
  const stream = new ReadableStream({ start: (out) => out.enqueue({ type: 'response-metadata' }) });
  return sdk.wrapLanguageModel({ model: resolved(model), middleware: { specificationVersion: 'v4', wrapStream: async () => ({ stream }) } });
}
