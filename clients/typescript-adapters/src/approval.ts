import type { ToolApprovalRequestOutput, ToolApprovalResponse, ToolSet } from 'ai';
import { type Agent, AnswerRejected, type AnyRouted, type JsonObject } from 'interrupt-router';
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

/** The tool calls among what was generated that a person has to approve. */
export function waitingCalls(content: readonly { readonly type: string }[]): Request[] {
  return (content as Request[]).filter((it) => it.type === 'tool-approval-request' && !it.isAutomatic);
}

/** Asks once whether a tool may be executed, and waits for the decision. */
export async function askApproval({ run, options }: Place, key: string, request: Request): Promise<Verdict> {
  const { toolCall, approvalId, reason: context } = request;
  const { toolName, input, providerExecuted } = toolCall;
  const kind = options.kinds?.[toolName];
  const agent = kind === undefined ? run.root : await run.agent(kind);
  const fields = JSON.parse(JSON.stringify({ tool: toolName, arguments: input })) as JsonObject;
  const routed = await agent.ask({ key, reason: `Call the tool ${toolName}?`, fields, ...(context !== undefined && { context }) });
  const isEdited = routed.decision.decision === 'edit' && routed.request !== null;
  const refusal = refusalOf(routed) ?? (isEdited ? null : await misfits(agent, routed, input));
  const reason = refusal ?? routed.decision.text;
  const response: ToolApprovalResponse = {
    type: 'tool-approval-response',
    approvalId,
    approved: refusal === null,
    ...(reason !== null && { reason }),
    ...(providerExecuted && { providerExecuted }),
  };
  return { response, ...(isEdited && { input: routed.request }) };
}

/** Why the tool is not executed, in the person's words where there are some. */
function refusalOf({ decision, route, rerouted }: AnyRouted<any>): string | undefined {
  const { decision: name, text } = decision;
  if (rerouted) return text ?? `Not called. Continue with ${route} instead.`;
  if (name === 'respond') return text ?? 'Not called.';
  return name === 'approve' || name === 'edit' ? undefined : (text ?? 'The tool call was rejected.');
}

/** The input is the request of the route, so the server checks it against its schema. */
async function misfits(agent: Agent, routed: AnyRouted<any>, input: unknown): Promise<string | null> {
  const { key, field, request } = routed;
  if (field === null || request !== null) return null;
  const submit = async (): Promise<string | null> => {
    try {
      await routed.submit({ [field]: input });
      return null;
    } catch (error) {
      if (!(error instanceof AnswerRejected)) throw error;
      return `The arguments are invalid: ${error.errors.map((it) => `${it.pointer}: ${it.message}`).join('; ')}`;
    }
  };
  // Each submission counts as a correction, so code that runs again must not repeat it.
  return agent.effect(keyOf(key, 'arguments'), submit, { repeatable: true });
}
