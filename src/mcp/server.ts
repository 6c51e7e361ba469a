/** Serves tools over the Model Context Protocol. The only file that imports the MCP library. */
import type { Readable, Writable } from 'node:stream';
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  type StandardSchemaWithJSON,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { ReportSource } from '../app/reading/reports.js';
import { CallerStatsError, describeError } from '../domain/errors.js';
import { toPrintable } from '../domain/format.js';
import type { Clock } from '../domain/time/clock.js';
import type { ObjectSchema } from '../http/schemas/json-schema.js';
import { nextTurn } from '../shared/pauses.js';
import { createTools, type Tool, type ToolAnswer } from './tools.js';

const instructions =
  'Exact counts of the questions that people asked the AI assistant of a documentation site. Ranges are half-open: dateTo is \
exclusive. Dates are in timeZone, UTC by default, unless an offset says otherwise. Counts are of queries, not of people.';

/** The streams of the protocol and of errors. */
export interface ToolStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly clock: Clock;
  /** Resolves when the process is asked to stop. */
  readonly stopRequested: () => Promise<unknown>;
}

/** Serves until stdin ends or the process is asked to stop. Writes only protocol messages to stdout. */
export async function serveTools(source: ReportSource, io: ToolStreams, version: string): Promise<void> {
  const tools = createTools({ source, clock: io.clock });
  const report = (message: string) => printError(io, message);
  const over = Promise.race([
    new Promise((resolve) => io.stdin.once('end', resolve).once('close', resolve)),
    io.stopRequested(),
  ]);
  const served = serveStdio(() => createServer({ tools, version, report }), {
    transport: new StdioServerTransport(io.stdin, io.stdout),
    onerror: ({ message }) => report(message),
  });
  await over;
  await served.close();
}

/** A request over HTTP, whose body was parsed already. */
export interface ToolRequest {
  readonly source: ReportSource;
  readonly request: Request;
  readonly body: unknown;
}

/** Answers a request of its own, so that no client has to wait for what the library does at its first request. */
export async function rehearse(): Promise<void> {
  // This file was loaded in the first of these turns of the event loop, which goes on after it.
  await nextTurn();
  await nextTurn();
  const source: ReportSource = {
    read: () => Promise.reject(new CallerStatsError('not_found', 'There are no projects.')),
    recordingBegan: async () => null,
    projects: async () => [],
  };
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const request = new Request('http://localhost/mcp', { method: 'POST', headers });
  const params = { name: 'list_projects', arguments: {} };
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  await answerToolRequest(
    { source, request, body },
    { clock: { now: () => 0 }, version: '', report: () => {} },
  );
}

/** Answers one request over HTTP (streamable HTTP without sessions). `report` gets unexpected errors. */
export async function answerToolRequest(
  { source, request, body }: ToolRequest,
  {
    clock,
    version,
    report,
  }: { readonly clock: Clock; readonly version: string; readonly report: (message: string) => void },
): Promise<Response> {
  const tools = createTools({ source, clock });
  const create = () => createServer({ tools, version, report });
  if (await isLegacyRequest(request, body)) {
    const answer = async (message: unknown): Promise<Response> => {
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await create().connect(transport);
      return transport.handleRequest(request, { parsedBody: message });
    };
    return Array.isArray(body) ? answerBatch(body, answer) : answer(body);
  }
  // Nothing ever changes that a client could subscribe to: every response is JSON.
  const { fetch } = createMcpHandler(create, {
    legacy: 'reject',
    maxSubscriptions: 0,
    keepAliveMs: 0,
  });
  return fetch(request, { parsedBody: body });
}

/**
 * Answers the messages of a batch one after the other, with the work of other requests in between. The first message that the
 * protocol refuses refuses the batch.
 */
async function answerBatch(
  messages: readonly unknown[],
  answer: (message: unknown) => Promise<Response>,
): Promise<Response> {
  const answers: string[] = [];
  for (const message of messages) {
    await nextTurn();
    const response = await answer(message);
    if (!response.ok) return response;
    const text = await response.text();
    if (text !== '') answers.push(text);
  }
  return answers.length === 0
    ? new Response(null, { status: 202 })
    : new Response(`[${answers.join()}]`, { headers: { 'content-type': 'application/json' } });
}

interface ServerParts {
  readonly tools: readonly Tool[];
  readonly version: string;
  /** Called with unexpected errors. */
  readonly report: (message: string) => void;
}

function createServer({ tools, version, report }: ServerParts): McpServer {
  const server = new McpServer(
    { name: 'caller-stats', version },
    { instructions, capabilities: { tools: { listChanged: false } } },
  );
  for (const { name, title, description, input, output, call } of tools) {
    server.registerTool(
      name,
      {
        title,
        description,
        inputSchema: asStandard(input),
        ...(output && { outputSchema: asStandard(output) }),
        annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
      },
      (given) => toResult(call(given as Readonly<Record<string, unknown>>), report),
    );
  }
  return server;
}

/** Returns errors as results, so that the model can read them. */
async function toResult(
  answering: Promise<ToolAnswer>,
  report: ServerParts['report'],
): Promise<CallToolResult> {
  try {
    const { text, structured } = await answering;
    return {
      content: [{ type: 'text', text }],
      ...(structured && { structuredContent: { ...structured } }),
    };
  } catch (error) {
    const expected = error instanceof CallerStatsError;
    if (!expected) report(error instanceof Error ? String(error.stack) : String(error));
    const lines = expected ? describeError(error) : ['The server failed. Its log says why.'];
    return { content: [{ type: 'text', text: lines.join('\n') }], isError: true };
  }
}

/** The schema only describes arguments. The tools check them, because their messages are better. */
function asStandard(schema: ObjectSchema): StandardSchemaWithJSON {
  const describe = () => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'caller-stats',
      validate: (value) => ({ value }),
      jsonSchema: { input: describe, output: describe },
    },
  };
}

function printError({ stderr }: ToolStreams, message: string): void {
  stderr.write(toPrintable(`caller-stats: ${message}\n`));
}
