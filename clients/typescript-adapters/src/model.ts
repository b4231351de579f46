import { type LanguageModel, gateway, wrapLanguageModel } from 'ai';

type Doer = Exclude<LanguageModel, string>;
type Answer = Awaited<ReturnType<ReturnType<typeof wrapLanguageModel>['doGenerate']>>;

/** Calls a model, and gives what is kept of its answer: that of an earlier worker where there is one. */
export type Keep = (call: () => Promise<unknown>) => Promise<unknown>;

/** A model whose answers are kept. */
export function durableModel(model: LanguageModel, keep: Keep): LanguageModel {
  const wrapGenerate = async ({ doGenerate }: { doGenerate: () => PromiseLike<Answer> }): Promise<Answer> =>
    revived((await keep(async () => kept(await doGenerate()))) as Answer);
  return wrapLanguageModel({ model: resolved(model), middleware: { specificationVersion: 'v4', wrapGenerate } });
}

/** The SDK takes the name of a model from its default provider. */
function resolved(model: LanguageModel): Doer {
  if (typeof model !== 'string') return model;
  return (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model);
}

/** What is worth to keep, as JSON: not the wire, which may be large and carry secrets. */
function kept({ request: _, response = {}, ...answer }: Answer): unknown {
  const { headers: _headers, body: _body, ...metadata } = response;
  const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
  const text = JSON.stringify({ ...answer, response: metadata }, (_key, value: unknown) =>
    isBytes(value) ? Buffer.from(value).toString('base64') : value,
  );
  return JSON.parse(text) as unknown;
}

function revived(answer: Answer): Answer {
  const { response } = answer;
  if (response?.timestamp === undefined) return answer;
  return { ...answer, response: { ...response, timestamp: new Date(response.timestamp) } };
}
