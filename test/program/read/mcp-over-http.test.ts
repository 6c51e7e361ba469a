/** `POST /mcp`: refusals, then what the official client and plain requests get. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import {
  callersShownMax,
  projectsShownMax,
  reportsMax,
  toolBatchMax,
  toolBodyBytesMax,
  waitingReportsMax,
} from '../../../src/domain/limits.js';
import {
  errorOf,
  SERIES,
  type Service,
  STATS,
  sharedService,
  startService,
  type TestRequest,
} from '../../support/http/http.js';
import { holdCalls } from '../../support/http/http-store.js';
import { by, projectOf } from '../../support/storage/entities.js';

const service = sharedService({}, async ({ store, record }) => {
  await record([
    { id: 'a', caller: 'web', occurredAt: '2026-01-01T00:00:00Z' },
    { id: 'b', caller: 'slack', occurredAt: '2026-05-01T00:00:00Z' },
  ]);
  await store.counts.record('blog', [{ id: 'a', caller: 'api', occurredAt: 0 }]);
});

const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** A call of a tool, as plain JSON-RPC. */
const calling = (name: string, given: object = {}): TestRequest => ({
  method: 'POST',
  path: '/mcp',
  headers,
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }),
});

/** Calls of `list_projects` in one request, as revision 2025-03-26 of the protocol allows. */
const batchOf = (ids: readonly number[], ...more: object[]): TestRequest => {
  const call = (id: number) => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'list_projects' },
  });
  return { ...calling('list_projects'), body: JSON.stringify([...ids.map(call), ...more]) };
};

const numbersTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

function resultOf({ text }: { readonly text: string }) {
  return (JSON.parse(text) as { result: { isError?: boolean; content: { text: string }[] } }).result;
}

describe('a call is refused', () => {
  test.each(['https://other.test', 'http://localhost:8080', 'chrome-extension://localhost', 'null', 'x'])(
    'from a page at %s',
    async (origin) => {
      const { send } = service();
      const request = calling('list_projects');
      for (const key of [undefined, null]) {
        const answer = await send({
          ...request,
          headers: { ...headers, origin },
          ...(key === null && { key }),
        });
        expect([answer.status, errorOf(answer)]).toEqual([
          403,
          expect.stringMatching(/^Pages of other sites/),
        ]);
      }
      expect((await send({ ...request, headers: { ...headers, origin: 'http://localhost' } })).status).toBe(
        200,
      );
    },
  );

  test('without a key that may read, before its body is read', async () => {
    const { send, keys, addKey } = service();
    const writing = await addKey('mcp writing', { type: 'admin', scopes: ['write'] });
    const elsewhere = await addKey('mcp elsewhere', {
      type: 'reading',
      projectId: 'docs',
      allow: ['192.0.2.1/32'],
    });
    for (const [key, status, says] of [
      [null, 401, /^There is no API key; /],
      [keys.recording, 401, /of type admin or reading; the one sent is of type recording/],
      [keys.unknownReading, 401, /unknown/],
      [keys.revoked, 401, /revoked/],
      [writing, 403, /with the scope read/],
      [elsewhere, 403, /from this address/],
    ] as const) {
      for (const request of [calling('list_projects'), { method: 'POST', path: '/mcp' }, { path: '/mcp' }]) {
        const answer = await send({ ...request, key, from: '203.0.113.9' });
        expect([answer.status, errorOf(answer)]).toEqual([status, expect.stringMatching(says)]);
      }
    }
  });

  test('with another method, type, size or body', async () => {
    const { send } = service();
    const { body = '' } = calling('list_projects');
    const sending = async (more: TestRequest) =>
      (await send({ ...calling('list_projects'), ...more })).status;
    for (const method of ['GET', 'DELETE', 'PUT'])
      expect((await send({ method, path: '/mcp' })).status).toBe(405);
    const plain = await send({
      ...calling('list_projects'),
      headers: { ...headers, 'content-type': 'text/plain' },
    });
    expect([plain.status, errorOf(plain)]).toEqual([
      415,
      'The Content-Type is not supported; send application/json.',
    ]);
    expect(await sending({ headers: { ...headers, 'content-encoding': 'gzip' } })).toBe(415);
    expect(await sending({ body: String(body).padEnd(toolBodyBytesMax + 1) })).toBe(413);
    expect(await sending({ body: '{' })).toBe(400);
    expect(await sending({ body: '{"jsonrpc":"2.0"}' })).toBe(400);
    expect(await sending({ headers: { ...headers, 'mcp-protocol-version': '1999-01-01' } })).toBe(400);
    expect(await sending({ path: '/mcp?key=x' })).toBe(400);
    expect(await sending({ path: '/mcp//' })).toBe(404);
    // As clients write it.
    expect(await sending({ path: '/mcp/' })).toBe(200);
    // The response is always JSON.
    expect(await sending({ headers: { 'content-type': 'application/json' } })).toBe(200);
  });

  test('with the errors of the protocol, by which clients negotiate its version', async () => {
    const { send } = service();
    const call = (more: TestRequest) => send({ ...calling('list_projects'), ...more });
    const unknown = { ...headers, 'mcp-protocol-version': '1999-01-01' };
    const version = await call({ headers: unknown });
    expect(version.headers['content-type']).toMatch(/^application\/json/);
    expect([version.status, JSON.parse(version.text)]).toMatchObject([
      400,
      { jsonrpc: '2.0', error: { code: expect.any(Number), message: expect.stringMatching(/version/i) } },
    ]);
    const method = await call({ body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'no/such' }) });
    expect(JSON.parse(method.text)).toMatchObject({ id: 7, error: { code: -32601 } });
  });

  test('nothing of arguments that are null or empty, which models send for those they leave out', async () => {
    const { send } = service();
    const bare = resultOf(await send(calling('get_caller_stats', { projectId: 'docs' })));
    const given = { projectId: 'docs', dateFrom: null, dateTo: '', period: null, caller: '', compare: null };
    expect(resultOf(await send(calling('get_caller_stats', given)))).toEqual(bare);
    for (const projectId of [null, ''])
      expect(resultOf(await send(calling('get_caller_stats', { projectId })))).toMatchObject({
        isError: true,
      });
  });

  test('in a batch of too many, of none, or with one that is invalid', async () => {
    const { send, calls } = service();
    for (const [request, says] of [
      [batchOf(numbersTo(toolBatchMax + 1)), /^The batch has more than 10 messages; send each message in/],
    ] as const) {
      calls.length = 0;
      const answer = await send(request);
      expect([answer.status, errorOf(answer)]).toEqual([400, expect.stringMatching(says)]);
    }
    for (const request of [batchOf([]), batchOf([1, 2], { jsonrpc: '1.0' })]) {
      const answer = await send(request);
      expect([answer.status, JSON.parse(answer.text)]).toMatchObject([400, { jsonrpc: '2.0', error: {} }]);
    }
    expect(calls.map(({ method }) => method)).not.toContain('listProjects');
  });

  test('as a whole if not all calls of its batch are within the rate limit', async () => {
    const { send } = await startService({ limits: { requestsPerMinute: 7 } });
    expect((await send(batchOf([1, 2, 3]))).headers['ratelimit']).toMatch(/;r=4;/);
    expect((await send(batchOf([1, 2, 3, 4, 5]))).status).toBe(429);
  });

  test('for a series of too many buckets, before anything is counted', async () => {
    const { send, calls } = service();
    const hours = { projectId: 'docs', interval: 'hour' };
    for (const [given, says] of [
      [{ ...hours, period: 'last-year' }, 'interval: hour makes more than 1000 buckets of this range;'],
      // From the first query to the last one.
      [hours, 'interval: hour makes more than 1000 buckets of this range;'],
      [{ ...hours, by: 'caller' }, 'interval: hour makes more than 1000 buckets by caller of this range;'],
    ] as const) {
      calls.length = 0;
      const result = resultOf(await send(calling('get_caller_stats_series', given)));
      expect(result).toMatchObject({ isError: true });
      expect(result.content[0]?.text).toContain(`\n  ${says} choose a wider interval or a smaller range`);
      expect(calls.map(({ method }) => method).filter((method) => method.startsWith('count'))).toEqual([]);
    }
  });

  test('while too many reports are being made, over this path and others', async () => {
    const { send, watched } = service();
    const { reached, release } = holdCalls({ watched }, 'countCallers');
    const request = calling('get_callers', { projectId: 'docs' });
    const many = numbersTo(reportsMax + waitingReportsMax).map(() => send(request));
    await reached(reportsMax);
    const busy = 'Too many reports are being made; try again.';
    const series = calling('get_caller_stats_series', { projectId: 'docs', interval: 'year' });
    for (const one of [request, series])
      expect(resultOf(await send(one))).toMatchObject({ isError: true, content: [{ text: busy }] });
    const overHttp = await send({ path: SERIES });
    expect([overHttp.status, errorOf(overHttp)]).toEqual([503, busy]);
    // It is one number of the database.
    expect(resultOf(await send(calling('get_caller_stats', { projectId: 'docs' }))).isError).toBeUndefined();
    release();
    for (const answer of await Promise.all(many)) expect(resultOf(answer).isError).toBeUndefined();
  });

  test('about a project that the key does not read', async () => {
    const { send, keys, addKey, calls } = service();
    const reading = await addKey('mcp reading', { type: 'reading', projectId: 'docs' });
    for (const [key, projectId] of [
      [reading, 'blog'],
      [reading, 'rival-docs'],
      [reading, 'no-such-project'],
      [keys.admin, 'rival-docs'],
      [keys.rivalAdmin, 'docs'],
      [keys.admin, '../docs'],
      [keys.admin, 'docs\0'],
    ] as const) {
      const result = resultOf(await send({ ...calling('get_caller_stats', { projectId }), key }));
      expect(result).toMatchObject({ isError: true });
      expect(result.content[0]?.text).toMatch(/^There is no project .*; see list_projects\.$/);
    }
    expect(calls.map(({ method }) => method)).not.toContain('count');
  });
});

test('a batch is answered in its order, without its notifications', async () => {
  const { send } = service();
  const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
  const answers = JSON.parse((await send(batchOf([3, 1, 2], notification))).text) as { id: number }[];
  expect(answers.map(({ id }) => id)).toEqual([3, 1, 2]);
});

/** Connects the official client, and closes it after `use`. */
async function withClient<T>(
  { origin }: Service,
  key: string,
  use: (client: Client) => Promise<T>,
  options: ClientOptions = {},
): Promise<T> {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', await origin()), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
  });
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  await client.connect(transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

describe('the official client', () => {
  test.each(['legacy', 'auto'] as const)('lists and calls the tools, in mode %s', async (mode) => {
    const { keys, addKey, send } = service();
    const reading = await addKey(`mcp ${mode}`, { type: 'reading', projectId: 'docs' });
    for (const [key, ids] of [
      [keys.admin, ['blog', 'docs']],
      [reading, ['docs']],
    ] as const) {
      await withClient(
        service(),
        key,
        async (client) => {
          const { tools } = await client.listTools();
          expect(tools.map(({ name }) => name)).toEqual([
            'list_projects',
            'get_caller_stats',
            'get_caller_stats_series',
            'get_callers',
            'get_changes',
          ]);
          const call = async (name: string, given: Record<string, unknown>) =>
            (await client.callTool({ name, arguments: given })).structuredContent;
          const { projects } = (await call('list_projects', {})) as { projects: { id: string }[] };
          expect(projects.map(({ id }) => id).sort()).toEqual(ids);
          // The clock of the service is in June.
          const asked = { period: 'this-year', timeZone: 'Europe/Berlin', compare: 'previous-year' };
          const overHttp = await send({ path: `${STATS}?${new URLSearchParams(asked)}`, key });
          expect(await call('get_caller_stats', { projectId: 'docs', ...asked })).toEqual({
            about: expect.stringMatching(/^Queries from 2026-01-01T00:00:00.000\+01:00 .* Europe\/Berlin\./),
            ...(JSON.parse(overHttp.text) as object),
          });
          const given = { projectId: 'docs', interval: 'month', by: 'caller' };
          const { content } = await client.callTool({ name: 'get_caller_stats_series', arguments: given });
          expect(content).toMatchObject([
            {
              text: expect.stringContaining(
                '\nstart,total,caller.slack,caller.web,(rest)\n2026-01-01,1,0,1,0\n',
              ),
            },
          ]);
        },
        { versionNegotiation: { mode } },
      );
    }
  });
});

test('of more callers than a model reads, get_callers names the first and adds up the rest', async () => {
  const { send, store } = service();
  const queries = numbersTo(callersShownMax + 5).map((at) => ({
    id: `q${at}`,
    caller: `sdk-${at}`,
    occurredAt: 0,
  }));
  await store.counts.record('blog', queries);
  const { content } = resultOf(await send(calling('get_callers', { projectId: 'blog' })));
  const lines = content[0]?.text.split('\n') ?? [];
  // One of the project was there before.
  expect(lines.slice(1, 3)).toEqual([
    `${callersShownMax + 6} callers, most queries first. Together: web 0, api 1, other ${callersShownMax + 5}, total ${callersShownMax + 6}.`,
    'caller,type,count',
  ]);
  expect(lines.length).toBe(3 + callersShownMax + 1);
  expect(lines.at(-1)).toBe(
    `Left out: 6 rows after row ${callersShownMax}, 6 queries together. To get them, call get_callers with {"projectId":"blog","firstRow":${callersShownMax + 1}}`,
  );
});

test('of more projects than a model reads, list_projects names the first, and all if asked', async () => {
  const { send, keys, store } = await startService();
  for (const at of numbersTo(projectsShownMax + 3))
    await store.directory.createProject(projectOf(`p${at}`), by);
  const listed = async (given: object) => {
    const { structuredContent, content } = resultOf(
      await send({ ...calling('list_projects', given), key: keys.admin }),
    ) as unknown as {
      structuredContent: { projects: object[] };
      content: { text: string }[];
    };
    return [structuredContent.projects.length, /Left out.*/.exec(content[0]?.text ?? '')?.[0]];
  };
  const [shown, leftOut] = await listed({});
  expect([shown, leftOut]).toEqual([
    projectsShownMax,
    expect.stringMatching(/list_projects with \{"firstRow":51\}$/),
  ]);
  expect(await listed({ rows: 1_000 })).toEqual([expect.any(Number), undefined]);
});
