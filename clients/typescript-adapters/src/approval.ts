import type { GenerateTextResult, ToolApprovalRequestOutput, ToolApprovalResponse, ToolSet } from 'ai';
import { type Agent, AnswerRejected, type AnyRouted, type Decision, type JsonObject } from 'interrupt-router';
import { keyOf } from './keys.js';
import type { Place } from './place.js';

/** A tool call that waits for a person. */
export type Request = ToolApprovalRequestOutput<ToolSet>;

/** What was decided about it. */
export interface Verdict {
  readonly response: ToolApprovalResponse;
  /** The input that the person gave instead of the model's. */
  readonly input?: unknown;
}

/** The tool calls of a result that a person has to approve. */
export function waitingCalls(result: GenerateTextResult<any, any, any>): Request[] {
  return (result.content as Request[]).filter((it) => it.type === 'tool-approval-request' && !it.isAutomatic);
}

/** Asks once whether a tool may be executed, and waits for the decision. */
export async function askApproval({ run, options }: Place, key: string, request: Request): Promise<Verdict> {
  const { toolCall, approvalId, reason: context } = request;
  const { toolName, input, providerExecuted } = toolCall;
  const kind = options.kinds?.[toolName];
  const agent = kind === undefined ? run.root : await run.agent(kind);
  const fields = JSON.parse(JSON.stringify({ tool: toolName, arguments: input })) as JsonObject;
  const routed = await agent.ask({ key, reason: `Call the tool ${toolName}?`, fields, ...(context !== undefined && { context }) });
  const { refusal, edited } = await outcome(agent, routed, input);
  const reason = refusal ?? routed.decision.text;
  const response: ToolApprovalResponse = {
    type: 'tool-approval-response',
    approvalId,
    approved: refusal === undefined,
    ...(reason !== null && { reason }),
    ...(providerExecuted && { providerExecuted }),
  };
  return { response, ...(edited !== undefined && { input: edited }) };
}

/** Why the tool is not executed, or with which other input it is. */
interface Outcome {
  readonly refusal?: string;
  readonly edited?: unknown;
}

async function outcome(agent: Agent, routed: AnyRouted<any>, input: unknown): Promise<Outcome> {
  const { decision, field, route, request, rerouted } = routed;
  if (rerouted) return { refusal: words(decision, `Not called. Continue with ${route} instead.`) };
  if (decision.decision === 'respond') return { refusal: words(decision, 'Not called.') };
  if (decision.decision !== 'approve' && decision.decision !== 'edit') return { refusal: words(decision, 'The tool call was rejected.') };
  if (decision.decision === 'edit' && request !== null) return { edited: request };
  if (field === null) return {};
  // The input is the request of the route, so the server checks it against its schema. A submission counts as a correction, so code that
  // runs again must not repeat it.
  const misfits = await agent.effect(keyOf(routed.key, 'arguments'), () => misfitsOf(routed, { [field]: input }), { repeatable: true });
  return misfits === null ? {} : { refusal: `The arguments are invalid: ${misfits}` };
}

async function misfitsOf(routed: AnyRouted<any>, answer: unknown): Promise<string | null> {
  if (routed.request !== null) return null;
  try {
    await routed.submit(answer);
    return null;
  } catch (error) {
    if (!(error instanceof AnswerRejected)) throw error;
    return error.errors.map((it) => `${it.pointer}: ${it.message}`).join('; ');
  }
}

function words(decision: Decision, otherwise: string): string {
  return decision.text ?? otherwise;
}
