// The samples for tool approvals of a chat in the documentation of the AI SDK. What they import from `ai` comes from the adapter here.
import { type LanguageModel, type UIMessage, convertToModelMessages, createUIMessageStreamResponse, isStepCount, streamText, toUIMessageStream, tool } from '../../src/ai-sdk.js';
import { z } from 'zod';

/** The route of a chat: a page of `useChat` posts its messages, and shows what comes back. */
export function route(model: LanguageModel, fetchWeather: (city: string) => string): (request: Request) => Promise<Response> {
  return async function POST(req) {
    const { messages } = (await req.json()) as { messages: UIMessage[] };

    const result = streamText({
      model,
      messages: await convertToModelMessages(messages),
      tools: {
        getWeather: tool({
          description: 'Get the weather in a location',
          inputSchema: z.object({
            city: z.string(),
          }),
          execute: async ({ city }) => {
            const weather = fetchWeather(city);
            return weather;
          },
        }),
      },
      toolApproval: {
        getWeather: 'user-approval',
      },
      stopWhen: isStepCount(5),
    });

    return createUIMessageStreamResponse({
      stream: toUIMessageStream({ stream: result.stream }),
    });
  };
}
