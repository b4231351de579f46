import { type LanguageModel, type LanguageModelMiddleware, gateway, wrapLanguageModel } from 'ai';
import { asJson, revived } from './as-json.js';
import { type Keep, durableStream } from './model-stream.js';

type Params = Parameters<NonNullable<LanguageModelMiddleware['wrapGenerate']>>[0]['params'];
type Answer = Awaited<ReturnType<ReturnType<typeof wrapLanguageModel>['doGenerate']>>;

/** A model whose answers are kept. */
export function durableModel(model: LanguageModel, keep: Keep): LanguageModel {
  const middleware: LanguageModelMiddleware = {
    specificationVersion: 'v4',
    wrapGenerate: async ({ doGenerate, params }) => {
      const answer = (await keep(async () => kept(await doGenerate()), content(params))) as Answer;
      return answer.response === undefined ? answer : { ...answer, response: revived(answer.response) };
    },
    wrapStream: ({ doStream, params }) => durableStream(doStream, content(params), keep),
  };
  return wrapLanguageModel({ model: resolved(model), middleware });
}

/** What a model is asked, without how that is sent. */
function content({ abortSignal: _, headers: _headers, includeRawChunks: _raw, ...asked }: Params): unknown {
  return asJson(asked);
}

/** The SDK takes the name of a model from its default provider. */
export function resolved(model: LanguageModel): Exclude<LanguageModel, string> {
  if (typeof model !== 'string') return model;
  return (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model);
}

/** What is worth to keep, as JSON: not the wire, which may be large and carry secrets. */
function kept({ request: _, response = {}, ...answer }: Answer): unknown {
  const { headers: _headers, body: _body, ...metadata } = response;
  return asJson({ ...answer, response: metadata });
}
