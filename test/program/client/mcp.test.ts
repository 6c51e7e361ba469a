/** Questions that are calls of tools: servers and clients of the official SDK, version 2; the deep test has version 1. */
import { InMemoryTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  createMcpHandler,
  fromJsonSchema,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { recordQuestions, type ToolOptions } from '../../../clients/javascript/src/middleware/mcp.js';
import {
  type Answer,
  answerQuestion,
  askAll,
  callersOf,
  counting,
  openSession,
} from '../../support/client/mcp-questions.js';

type Options = Omit<ToolOptions, 'server'>;

const inputSchema = fromJsonSchema<{ question: string }>({
  type: 'object',
  properties: { question: { type: 'string' } },
  required: ['question'],
});

function serverWith(options: Options): McpServer {
  const server = new McpServer({ name: 'docs', version: '1' });
  server.registerTool(
    'ask',
    { inputSchema },
    recordQuestions(answerQuestion, { ...options, server: server.server }),
  );
  server.registerTool('search', { inputSchema }, answerQuestion);
  return server;
}

/** A server over HTTP with a session for each client. */
function withSessions(options: Options): Answer {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  return async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await serverWith(options).connect(transport);
    return transport.handleRequest(request);
  };
}

const withoutSessions =
  (options: Options): Answer =>
  async (request) => {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await serverWith(options).connect(transport);
    return transport.handleRequest(request);
  };

const current = (options: Options): Answer => {
  const { fetch } = createMcpHandler(() => serverWith(options), {});
  return (request) => fetch(request);
};

const over = (answer: Answer): StreamableHTTPClientTransport =>
  new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: (url, init) => answer(new Request(url, init)),
  });

describe('an answered call counts, and nothing else', () => {
  test.each([
    ['with sessions', withSessions, 'legacy', 'claude-desktop'],
    ['without sessions, where nothing names the client', withoutSessions, 'legacy', 'mcp'],
    ['in the current revision, where each request does', current, 'auto', 'claude-desktop'],
  ] as const)('over HTTP, %s', async (_what, kind, mode, caller) => {
    const { recorder, counted } = await counting();
    await askAll(over(kind({ recorder })), 'Claude Desktop', { versionNegotiation: { mode } });
    expect(await callersOf(counted)).toEqual([caller, caller]);
  });

  test('over the streams of a process', async () => {
    const { recorder, counted } = await counting();
    for (let at = 0; at < 2; at++) {
      const [client, server] = InMemoryTransport.createLinkedPair();
      await serverWith({ recorder }).connect(server);
      await askAll(client, 'cursor-vscode');
    }
    expect(await callersOf(counted)).toEqual(Array.from({ length: 4 }, () => 'cursor-vscode'));
  });
});

describe('a call that is repeated', () => {
  test('counts once in its session, and again in another', async () => {
    const { recorder, counted } = await counting();
    const answer = withSessions({ recorder });
    for (let at = 0; at < 2; at++) {
      const call = await openSession(answer);
      for (const id of [1, 1, '1', 2, 1]) await call(id);
    }
    const questions = await counted();
    expect(questions).toHaveLength(6);
    for (const { id, caller } of questions) {
      expect(id).toMatch(/^mcp-[0-9a-f]{32}$/);
      expect(caller).toBe('raw');
    }
  });

  test('counts once without a session if the proxy names the request', async () => {
    const { recorder, counted } = await counting();
    const call = await openSession(withoutSessions({ recorder }));
    for (const headers of [{ 'x-request-id': 'r1' }, { 'x-request-id': 'r1' }, {}, {}])
      await call(1, headers as Record<string, string>);
    expect(await counted()).toHaveLength(3);
  });
});

describe('the caller', () => {
  const rules = { siteOrigins: ['https://docs.test'], callerHeader: 'x-caller' };

  test.each([
    ['an agent that is known', { 'user-agent': 'Cursor/3' }, 'cursor'],
    ['a page of the site', { origin: 'https://docs.test' }, 'web'],
    ['an integration of yours', { 'x-caller': 'my-bot' }, 'my-bot'],
    ['a client with a key', { authorization: 'Bearer a' }, 'raw'],
  ])('%s', async (_what, headers, caller) => {
    const { recorder, counted } = await counting();
    const call = await openSession(withSessions({ recorder, rules }));
    await call(1, headers as Record<string, string>);
    expect(await callersOf(counted)).toEqual([caller]);
  });

  test.each([
    [undefined, 'mcp'],
    [{ fallback: 'unnamed' }, 'unnamed'],
  ])('a name of which nothing can be kept, with the rules %j', async (given, caller) => {
    const { recorder, counted } = await counting();
    const call = await openSession(withSessions({ recorder, ...(given && { rules: given }) }), {
      name: '日本語',
      version: '1',
    });
    await call(1);
    expect(await callersOf(counted)).toEqual([caller]);
  });
});
