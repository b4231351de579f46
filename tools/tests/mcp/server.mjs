// A server with the tools that the tests need, on the TypeScript SDK: `server.mjs stdio`, or `server.mjs http`, which
// prints its port. It writes what it does to the file named by LOG, one line for each thing.

import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.MODULES}/`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { McpServer } = await load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = await load('@modelcontextprotocol/sdk/server/stdio.js');
const { StreamableHTTPServerTransport } = await load('@modelcontextprotocol/sdk/server/streamableHttp.js');
const { z } = await load('zod');

const log = (line) => appendFileSync(process.env.LOG, `${line}\n`);
const pause = () => new Promise((resolve) => setTimeout(resolve, 20));
const text = (text) => ({ content: [{ type: 'text', text }] });

// Works in steps of 20 ms, and tells of each by `tell`.
async function tick({ name, seconds }, extra, tell, heeds) {
  const total = Math.round(seconds / 0.02);
  for (let step = 0; step < total; step += 1) {
    if (heeds && extra.signal.aborted) {
      log(`${name} cancelled`);
      return text('stopped');
    }
    log(`${name} step ${step}`);
    const progressToken = extra._meta?.progressToken;
    await tell({
      method: 'notifications/progress',
      params: { progressToken, progress: step + 1, total, message: 'working' },
    });
    await pause();
  }
  log(`${name} done`);
  return text(`${name} has worked`);
}

function newServer() {
  const server = new McpServer({ name: 'node', version: '1.0.0' });
  const input = { name: z.string(), seconds: z.number() };
  const hints = { readOnlyHint: true, idempotentHint: true };
  server.registerTool('work', { description: 'Works for some seconds and heeds a cancellation.', inputSchema: input, annotations: hints },
    (given, extra) => tick(given, extra, extra.sendNotification, true));
  // What a cancelled request tells in its own name, the SDK keeps to itself.
  server.registerTool('hide', { description: 'Works for some seconds, and hides it once it is told to stop.', inputSchema: input },
    (given, extra) => tick(given, extra, extra.sendNotification, false));
  server.registerTool('ignore', { description: 'Works for some seconds, whatever it is told.', inputSchema: input },
    (given, extra) => tick(given, extra, (told) => server.server.notification(told, { relatedRequestId: extra.requestId }), false));
  server.registerTool('ask', { description: 'Asks a person.', inputSchema: { question: z.string() } }, async ({ question }) => {
    log('asks');
    const requestedSchema = {
      type: 'object',
      properties: { colour: { type: 'string' }, number: { type: 'integer' } },
      required: ['colour', 'number'],
    };
    const answer = await server.server.elicitInput({ message: question, requestedSchema });
    log(`was told ${answer.action}`);
    return text(answer.action === 'accept' ? `${answer.content.colour} ${answer.content.number}` : `nothing: ${answer.action}`);
  });
  server.registerTool('die', { description: 'Ends the whole server.', inputSchema: { word: z.string() } }, ({ word }) => {
    console.error(`about to die of ${word}`);
    process.exit(3);
  });
  return server;
}

log(`started ${process.pid}`);
if (process.argv[2] === 'http') {
  const sessions = new Map();
  const listener = createServer(async (request, response) => {
    if (request.method === 'GET' && process.env.LATE_STREAM) {
      // Something between delays the stream, and whatever comes before it.
      await new Promise((go) => setTimeout(go, Number(process.env.LATE_STREAM)));
    }
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => sessions.set(id, transport),
      });
      await newServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  listener.listen(0, '127.0.0.1', () => console.log(listener.address().port));
} else {
  await newServer().connect(new StdioServerTransport());
}
