import { setImmediate } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test, vi } from 'vitest';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { STORE_PARTS, type StorePart } from '../../../src/storage/ports/store-stats.js';
import { signedIn } from '../../support/http/dashboard.js';
import {
  detailsOf,
  errorOf,
  QUERIES,
  recordingHead,
  type Service,
  STATS,
  startService,
} from '../../support/http/http.js';
import { holdCalls } from '../../support/http/http-store.js';

const query = '{"id":"a","caller":"web"}';
const json = { 'content-type': 'application/json' };

describe('while the store is unavailable', () => {
  test('requests return 503 if they need it', async () => {
    const { send, record, store } = await startService();
    await store.close();
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      expect((await send({ method, path: STATS })).status).toBe(503);
    }
    expect((await send({ path: `${STATS}?dateFrom=nonsense` })).status).toBe(503);
    expect(errorOf(await record(query))).toBe('The store cannot answer now; try again.');
    expect((await record(query)).status).toBe(503);
    expect((await send({ path: '/readyz' })).status).toBe(503);
    expect(errorOf(await send({ path: '/readyz' }))).toBe(
      'The server is not ready: database: cannot be reached or read; see the log.',
    );
    expect((await send({ method: 'HEAD', path: '/readyz' })).status).toBe(503);

    expect((await send({ path: '/livez' })).status).toBe(200);
    expect((await send({ path: '/openapi.json' })).status).toBe(200);
    expect((await send({ key: 'garbage' })).status).toBe(401);
    expect((await send({ path: '/nowhere' })).status).toBe(404);
    expect((await send({ method: 'POST', path: '/readyz' })).status).toBe(405);
  });

  test.each(['findAccess', 'count', 'record', 'check'] as const)(
    'a failing %s returns 503 without internal details, and works again afterwards',
    async (failing) => {
      const { send, record, watched, log } = await startService();
      const all = async () => [await send(), await record(query), await send({ path: '/readyz' })];
      watched.before = async (method) => {
        if (method === failing) throw new CallerStatsError('unavailable', 'disk /var/lib/secret.db is full');
      };
      const answers = await all();
      expect(answers.some(({ status }) => status === 503)).toBe(true);
      for (const { text } of answers) expect(text).not.toContain('secret.db');
      expect(log(), 'the log has the details').toContain('disk /var/lib/secret.db is full');
      watched.before = async () => undefined;
      expect((await all()).map(({ status }) => status)).toEqual([200, 200, 200]);
    },
  );
});

test('a session that cannot be looked up opens nothing, although the rest of the store answers', async () => {
  const service = await startService();
  const owner = await signedIn(service, 'ada@example.org', 'owner');
  const paths = ['/api/sessions', '/api/organizations/default/keys', '/api/organizations/default/members'];
  for (const path of paths) expect((await owner.send({ path })).status).toBe(200);
  vi.spyOn(service.store.users, 'run').mockRejectedValue(new CallerStatsError('unavailable', 'away'));
  for (const path of paths) expect((await owner.send({ path })).status).toBe(503);
});

test.each([
  ['list_projects', 'listProjects'],
  ['get_caller_stats', 'count'],
])(
  'a tool of /mcp says nothing of why the store is away, or of a program error: %s',
  async (name, failing) => {
    const { send, watched, log, calls } = await startService();
    const params = { name, arguments: name === 'list_projects' ? {} : { projectId: 'docs' } };
    const call = {
      ...{ method: 'POST', path: '/mcp' },
      headers: { ...json, accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    };
    expect(JSON.parse((await send(call)).text).result.isError).toBeUndefined();
    const cause = new Error('connect ECONNREFUSED db.internal:5432');
    for (const [error, said] of [
      [
        new CallerStatsError('unavailable', 'disk /var/lib/secret.db is full', { cause }),
        'The store cannot answer now; try again.',
      ],
      [new TypeError('SELECT a FROM /var/lib/secret.db'), 'The server failed. Its log says why.'],
    ] as const) {
      const before = log().length;
      watched.before = async (method) => {
        if (method === failing) throw error;
      };
      const { text } = await send(call);
      expect(calls.at(-1)?.method).toBe(failing);
      expect(JSON.parse(text).result).toMatchObject({ isError: true, content: [{ text: said }] });
      expect(text).not.toMatch(/secret|internal|TypeError/);
      expect(log().slice(before)).toContain('secret.db');
    }
  },
);

describe('/readyz', () => {
  test.each<[StorePart, string]>([
    ['database', 'database: cannot be reached or read; see the log.'],
    ['schema', 'schema: is not the one that this version works with; see the log.'],
    ['counts', 'counts: a count cannot be made; see the log.'],
  ])('names the failing part %s, and only the log has the reason', async (part, message) => {
    const { send, watched, calls, log } = await startService();
    watched.before = async (method) => {
      // Fails the check of this part.
      if (
        method === 'check' &&
        calls.filter((call) => call.method === 'check').length === STORE_PARTS.indexOf(part)
      )
        throw new Error('password of /var/lib/secret.db on db.internal');
    };
    const answer = await send({ path: '/readyz' });
    expect([answer.status, detailsOf(answer)]).toEqual([503, [message]]);
    expect(answer.headers['retry-after']).toBe('1');
    expect(answer.text).not.toMatch(/secret|internal/);
    const line = log()
      .split('\n')
      .find((one) => one.includes('not ready'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      part,
      err: { message: expect.stringContaining('secret.db') },
    });
  });

  test('says that nothing can be recorded while counts are served, and only the log has the reason', async () => {
    const { send, watched, log } = await startService();
    watched.before = async (method) => {
      if (method === 'checkRecording') throw new Error('/var/lib/secret.db is on a full disk');
    };
    const answer = await send({ path: '/readyz' });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([
      200,
      {
        status: 'read-only',
        details: [{ message: 'recording: nothing can be recorded now, but counts are served; see the log.' }],
      },
    ]);
    const line = log()
      .split('\n')
      .find((one) => one.includes('nothing can be recorded'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ part: 'recording', err: { message: /secret/ } });
    watched.before = async () => undefined;
    expect((await send({ path: '/readyz' })).text).toBe('{"status":"ready"}');
  });

  test.each([
    [
      'only the counters are missing',
      'ALTER TABLE query_counter RENAME TO gone',
      'counts: a count cannot be made',
    ],
    [
      'another version has changed the schema',
      'PRAGMA user_version = 1000',
      'schema: is not the one that this version works with',
    ],
  ])('fails if %s', async (_what, sql, message) => {
    const { send, databaseUrl } = await startService({ ownFile: true });
    expect((await send({ path: '/readyz' })).status).toBe(200);
    // The server may be writing.
    const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length), { timeout: 60_000 });
    db.exec(sql);
    db.close();
    const answer = await send({ path: '/readyz' });
    expect([answer.status, detailsOf(answer)]).toEqual([503, [`${message}; see the log.`]]);
  });
});

test.each<[string, string]>([
  ['count', STATS],
  ['record', QUERIES],
  ['findAccess', STATS],
])('a program error in %s returns 500 with nothing but an id of the log entry', async (failing, path) => {
  const { send, watched, log } = await startService();
  watched.before = async (method) => {
    if (method === failing) throw new TypeError('SELECT secret FROM /var/lib/caller-stats.db');
  };
  const request = path === QUERIES ? { method: 'POST', headers: json, body: query } : {};
  const answer = await send({ ...request, path, failing: true });
  expect(answer.status).toBe(500);
  const id = /^The server failed\. Its log says more under (\S+)\.$/.exec(String(errorOf(answer)))?.[1];
  expect(answer.text).not.toMatch(/secret|var|TypeError/);
  const entry = log()
    .split('\n')
    .find((line) => line.includes('SELECT secret'));
  expect(entry).toContain(`"reqId":"${id}"`);
});

/** Starts to close; resolves when the service no longer accepts connections. */
async function beginToClose(service: Service): Promise<{ closed: Promise<void> }> {
  const closed = service.close();
  while (service.listening()) await setImmediate();
  return { closed };
}

describe('while the app is closing', () => {
  test.each(['/livez', STATS])('a new request of %s on an open connection returns 503', async (path) => {
    const service = await startService();
    const connection = await service.connect();
    const probe = 'GET /livez HTTP/1.1\r\nHost: test\r\n\r\n';
    // The second request has begun, so the connection is not idle. Its end arrives while the app is closing.
    connection.write(`${probe}GET ${path} HTTP/1.1\r\nHost: test\r\n`);
    const before = await service.read(connection, { method: 'GET', path: '/livez' });
    expect([before.status, before.headers['connection']]).toEqual([200, 'keep-alive']);

    const { closed } = await beginToClose(service);
    connection.write('\r\n');
    const answer = await service.read(connection, { method: 'GET', path });
    expect([answer.status, errorOf(answer)]).toEqual([503, 'The server is stopping; try another or again.']);
    expect(answer.headers['connection']).toBe('close');
    await connection.ended();
    await closed;
  });

  test('a running request is finished', async () => {
    const service = await startService();
    const hold = holdCalls(service, 'record');
    const connection = await service.connect();
    connection.write(recordingHead(service, `Content-Length: ${query.length}`) + query);
    await hold.reached();
    const { closed } = await beginToClose(service);
    hold.release();
    const answer = await service.read(connection, { method: 'POST', path: QUERIES });
    expect([answer.status, answer.text]).toEqual([200, '{"recorded":1,"duplicates":0}']);
    expect(answer.headers['connection']).toBe('close');
    await connection.ended();
    await closed;
  });
});
