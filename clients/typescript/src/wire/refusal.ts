import { type Problem, type RouterError, errorOf } from '../errors.js';
import { isObject } from '../json.js';

/** The error that a response with a status of 3xx to 5xx is. */
export async function refusal(response: Response): Promise<RouterError> {
  const problem = problemIn(await response.text()) ?? unexplained(response);
  const retryAfter = Number(response.headers.get('retry-after') ?? NaN);
  return errorOf(response.status, Number.isFinite(retryAfter) ? { ...problem, retryAfterMs: retryAfter * 1_000 } : problem);
}

function problemIn(text: string): Problem | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return isObject(body) && typeof body['code'] === 'string' && typeof body['detail'] === 'string' ? (body as Problem) : undefined;
  } catch {
    return undefined;
  }
}

/** A proxy answers in its own form, and a redirect, which is not followed because it would get the token, has none. */
function unexplained(response: Response): Problem {
  const isRedirect = response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400);
  return isRedirect
    ? { code: 'redirected', detail: 'the server sends the request elsewhere', hint: 'give the address that it names as `server`' }
    : { code: `http-${response.status}`, detail: `the server answers ${response.status} without saying why` };
}
