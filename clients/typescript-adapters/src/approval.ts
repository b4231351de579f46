import type { ToolApprovalRequestOutput, ToolApprovalResponse, ToolSet } from 'ai';
import { type Agent, AnswerRejected, type Decided, type JsonObject, type Routed } from 'interrupt-router';
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
  const reasons = { reason: `Call the tool ${toolName}?`, ...(context !== undefined && { context }) };
  const answer = await agent.ask({ key, ...reasons, answerForm: 'yes_or_no', fields });
  const { approved, reason, ...edited } = await verdictOf(agent, answer, input);
  const response: ToolApprovalResponse = {
    type: 'tool-approval-response',
    approvalId,
    approved,
    ...(reason !== null && { reason }),
    ...(providerExecuted && { providerExecuted }),
  };
  return { response, ...edited };
}

/** Whether the tool is executed, why, in the person's words where there are some, and with which input of theirs. */
type Approval = { readonly approved: boolean; readonly reason: string | null; readonly input?: unknown };

async function verdictOf(agent: Agent, answer: Decided<any>, input: unknown): Promise<Approval> {
  const denied = (reason: string): Approval => ({ approved: false, reason });
  switch (answer.decidedAs) {
    case 'approved': {
      const { text, request, decision } = answer;
      if (decision.decision === 'edit') return request === null ? denied(text ?? NOT_EDITABLE) : { approved: true, reason: text, input: request };
      const misfit = await misfits(agent, answer, input);
      return misfit === null ? { approved: true, reason: text } : denied(misfit);
    }
    // Words may say anything.
    case 'answered':
      return denied(answer.text ?? 'Not called.');
    case 'rerouted':
      return denied(answer.text ?? `Not called. Continue with ${answer.route} instead.`);
    case 'declined':
      return denied(answer.text ?? 'The tool call was rejected.');
    case 'expired':
      return denied('Not called: no person has answered in time.');
    case 'withdrawn':
      return denied('Not called: the question was withdrawn.');
    default:
      return answer satisfies never;
  }
}

const NOT_EDITABLE = 'Not called: a person has changed the arguments, and this call takes none from them.';

/** The input is the request of the route, so the server checks it against its schema. */
async function misfits(agent: Agent, answer: Routed, input: unknown): Promise<string | null> {
  const { key, field, request, text } = answer;
  if (field === null || request !== null) return null;
  const submit = async (): Promise<string | null> => {
    try {
      await answer.submit({ [field]: input });
      return null;
    } catch (error) {
      if (!(error instanceof AnswerRejected)) throw error;
      const wrong = error.errors.map((it) => `${it.pointer}: ${it.message}`).join('; ');
      return `The arguments are invalid: ${wrong}.${text ? ` In their words: ${text}` : ''}`;
    }
  };
  // Each submission counts as a correction, so code that runs again must not repeat it.
  return agent.effect(keyOf(key, 'arguments'), submit, { repeatable: true });
}
