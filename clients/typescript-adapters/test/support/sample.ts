// The sample for manual approvals in the documentation of the AI SDK. What it imports from `ai` comes from the adapter here.
import { type LanguageModel, type ModelMessage, type ToolApprovalResponse, generateText, tool } from '../../src/ai-sdk.js';
import { z } from 'zod';

/** Gives the texts of both calls of the sample. */
export async function sample(model: LanguageModel, run: (command: string) => string): Promise<string[]> {
  const runCommand = tool({
    description: 'Run a shell command',
    inputSchema: z.object({ command: z.string() }),
    execute: async ({ command }) => run(command),
  });
  const messages: ModelMessage[] = [{ role: 'user', content: 'Remove the most recent file' }];
  const settings = { model, tools: { runCommand }, toolApproval: { runCommand: 'user-approval' } } as const;
  const result = await generateText({ ...settings, messages });
  messages.push(...result.responseMessages);

  const approvals: ToolApprovalResponse[] = [];
  for (const part of result.content) {
    if (part.type === 'tool-approval-request' && !part.isAutomatic) {
      const response: ToolApprovalResponse = {
        type: 'tool-approval-response',
        approvalId: part.approvalId,
        approved: true,
        reason: 'User confirmed the command',
      };
      approvals.push(response);
    }
  }
  messages.push({ role: 'tool', content: approvals });

  const finalResult = await generateText({ ...settings, messages });
  return [result.text, finalResult.text];
}
