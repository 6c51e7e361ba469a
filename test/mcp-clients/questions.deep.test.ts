/** Questions that are calls of tools of a server of version 1 of the official SDK. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeAll, expect, test } from 'vitest';
import { recordQuestions, type ToolOptions } from '../../clients/javascript/src/middleware/mcp.js';
import {
  type Answer,
  answerQuestion,
  askAll,
  callersOf,
  counting,
  openSession,
} from '../support/client/mcp-questions.js';
import { installPackages, installTimeoutMs } from '../support/install-packages.js';
import { root } from '../tidy/sources.js';

const folder = join(root, 'test/mcp-clients');

beforeAll(() => installPackages(folder), installTimeoutMs);

interface Transport {
  readonly sessionId?: string;
  handleRequest(request: Request): Promise<Response>;
}

interface Server {
  readonly server: ToolOptions['server'];
  registerTool(name: string, config: object, handler: (...given: never[]) => unknown): void;
  connect(transport: Transport): Promise<void>;
}

const load = (path: string): Promise<never> =>
  import(pathToFileURL(join(folder, 'node_modules', path)).href) as Promise<never>;

/** A server that has a session for each client, or none. */
async function serve({ recorder }: Pick<ToolOptions, 'recorder'>, hasSessions: boolean): Promise<Answer> {
  const sdk = '@modelcontextprotocol/sdk/dist/esm/server';
  const { McpServer } = (await load(`${sdk}/mcp.js`)) as { McpServer: new (info: object) => Server };
  const { WebStandardStreamableHTTPServerTransport } = (await load(
    `${sdk}/webStandardStreamableHttp.js`,
  )) as { WebStandardStreamableHTTPServerTransport: new (options: object) => Transport };
  const { z } = (await load('zod/index.js')) as { z: { string(): object } };
  const inputSchema = { question: z.string() };
  const sessions = new Map<string, Transport>();
  return async (request) => {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known) return known.handleRequest(request);
    const transport = new WebStandardStreamableHTTPServerTransport(
      hasSessions
        ? {
            sessionIdGenerator: () => crypto.randomUUID(),
            onsessioninitialized: (id: string) => void sessions.set(id, transport),
          }
        : {},
    );
    const server = new McpServer({ name: 'docs', version: '1' });
    const ask = recordQuestions(answerQuestion, { recorder, server: server.server });
    server.registerTool('ask', { inputSchema }, ask);
    server.registerTool('search', { inputSchema }, answerQuestion);
    await server.connect(transport);
    return transport.handleRequest(request);
  };
}

test.each([
  ['with sessions', true, 'claude-desktop'],
  ['without sessions', false, 'mcp'],
])('answered calls count, %s', async (_what, hasSessions, caller) => {
  const { recorder, counted } = await counting();
  const answer = await serve({ recorder }, hasSessions);
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
    fetch: (url, init) => answer(new Request(url, init)),
  });
  await askAll(transport, 'Claude Desktop', { versionNegotiation: { mode: 'legacy' } });
  expect(await callersOf(counted)).toEqual([caller, caller]);
});

test('a call that is repeated counts once in its session', async () => {
  const { recorder, counted } = await counting();
  const answer = await serve({ recorder }, true);
  for (let at = 0; at < 2; at++) {
    const call = await openSession(answer);
    for (const id of [1, 1, 2, 1]) await call(id);
  }
  expect(await callersOf(counted)).toEqual(['raw', 'raw', 'raw', 'raw']);
});
