import { EventEmitter, once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import { CallerStatsError } from '../../src/domain/errors.js';
import { STORE_PARTS, type StorePart } from '../../src/storage/ports/store-stats.js';
import { detailsOf, errorOf, QUERIES, type Service, STATS, startService } from '../support/http.js';

const query = '{"id":"a","caller":"web"}';
const json = { 'content-type': 'application/json' };

describe('when the store is away', () => {
  test('503 wherever it is needed, and only there', async () => {
    const { send, record, store } = await startService();
    await store.close();
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      expect((await send({ method, path: STATS })).status).toBe(503);
    }
    expect((await send({ path: `${STATS}?dateFrom=nonsense` })).status).toBe(503);
    expect(errorOf(await record(query))).toBe('The store cannot answer now; try again.');
    expect((await record(query)).status).toBe(503);
    expect((await send({ path: '/readyz' })).status).toBe(503);
    expect(errorOf(await send({ path: '/readyz' }))).toBe('The server is not ready.');
    expect((await send({ method: 'HEAD', path: '/readyz' })).status).toBe(503);

    expect((await send({ path: '/livez' })).status).toBe(200);
    expect((await send({ path: '/openapi.json' })).status).toBe(200);
    expect((await send({ key: 'garbage' })).status).toBe(401);
    expect((await send({ path: '/nowhere' })).status).toBe(404);
    expect((await send({ method: 'POST', path: '/readyz' })).status).toBe(405);
  });

  test.each(['findAccess', 'count', 'record', 'check'] as const)(
    'from %s on: 503 without the words of the store, and 200 once it is back',
    async (failing) => {
      const { send, record, watched, log } = await startService();
      const all = async () => [await send(), await record(query), await send({ path: '/readyz' })];
      watched.before = async (method) => {
        if (method === failing) throw new CallerStatsError('unavailable', 'disk /var/lib/secret.db is full');
      };
      const answers = await all();
      expect(answers.some(({ status }) => status === 503)).toBe(true);
      for (const { text } of answers) expect(text).not.toContain('secret.db');
      expect(log(), 'the log does say').toContain('disk /var/lib/secret.db is full');
      watched.before = async () => undefined;
      expect((await all()).map(({ status }) => status)).toEqual([200, 200, 200]);
    },
  );
});

describe('/readyz', () => {
  test.each<[StorePart, string]>([
    ['database', 'database: cannot be reached or read; see the log.'],
    ['schema', 'schema: is not the one that this version works with; see the log.'],
    ['counts', 'counts: a count cannot be made; see the log.'],
  ])('says that %s does not work, and only the log says why', async (part, message) => {
    const { send, watched, calls, log } = await startService();
    watched.before = async (method) => {
      // The last of the parts that were tried.
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

  test('makes a real count: it fails where the counters are gone, while the rest can be read', async () => {
    const { send, databaseUrl } = await startService();
    expect((await send({ path: '/readyz' })).status).toBe(200);
    const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
    db.exec('ALTER TABLE type_counter RENAME TO type_counter_gone');
    db.close();
    const answer = await send({ path: '/readyz' });
    expect([answer.status, detailsOf(answer)]).toEqual([
      503,
      ['counts: a count cannot be made; see the log.'],
    ]);
  });

  test('fails where another version has changed the schema', async () => {
    const { send, databaseUrl } = await startService();
    const db = new DatabaseSync(databaseUrl.slice('sqlite:'.length));
    db.exec('PRAGMA user_version = 1000');
    db.close();
    const answer = await send({ path: '/readyz' });
    expect(detailsOf(answer)).toEqual(['schema: is not the one that this version works with; see the log.']);
  });
});

test.each<[string, string]>([
  ['count', STATS],
  ['record', QUERIES],
  ['findAccess', STATS],
])(
  'a mistake of the program (in %s): 500 that shows nothing but where the log says more',
  async (failing, path) => {
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
  },
);

/** Starts to close, and resolves when no new connection is taken any more. */
async function beginToClose(service: Service): Promise<{ closed: Promise<void> }> {
  const closed = service.close();
  while (service.listening()) await setImmediate();
  return { closed };
}

describe('when the app is closing', () => {
  test('a new request on an open connection gets 503, and the connection is closed', async () => {
    const service = await startService();
    const connection = await service.connect();
    const start = 'GET /livez HTTP/1.1\r\nHost: test\r\n';
    // The second request has begun, so the connection is not idle; it comes whole only while the app is closing.
    connection.write(`${start}\r\n${start}`);
    const before = await service.read(connection, { method: 'GET', path: '/livez' });
    expect([before.status, before.headers['connection']]).toEqual([200, 'keep-alive']);

    const { closed } = await beginToClose(service);
    connection.write('\r\n');
    const answer = await service.read(connection, { method: 'GET', path: '/livez' });
    expect([answer.status, errorOf(answer)]).toEqual([503, 'The server is stopping; try another or again.']);
    expect(answer.headers['connection']).toBe('close');
    await connection.ended();
    await closed;
  });

  test('a request without a key is sent away before it is refused', async () => {
    const service = await startService();
    const connection = await service.connect();
    connection.write(`GET /livez HTTP/1.1\r\nHost: test\r\n\r\nGET ${STATS} HTTP/1.1\r\nHost: test\r\n`);
    await service.read(connection, { method: 'GET', path: '/livez' });
    const { closed } = await beginToClose(service);
    connection.write('\r\n');
    expect((await service.read(connection, { method: 'GET', path: STATS })).status).toBe(503);
    await closed;
  });

  test('what is being answered is finished', async () => {
    const service = await startService();
    const gate = new EventEmitter();
    const reached = once(gate, 'reached');
    service.watched.before = async (method) => {
      if (method !== 'record') return;
      gate.emit('reached');
      await once(gate, 'release');
    };
    const connection = await service.connect();
    const head = `POST ${QUERIES} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${service.keys.recording}\r\n`;
    const type = `Content-Type: application/json\r\nContent-Length: ${query.length}\r\n`;
    connection.write(`${head}${type}\r\n${query}`);
    await reached;
    const { closed } = await beginToClose(service);
    gate.emit('release');
    const answer = await service.read(connection, { method: 'POST', path: QUERIES });
    expect([answer.status, answer.text]).toEqual([200, '{"recorded":1,"duplicates":0}']);
    expect(answer.headers['connection']).toBe('close');
    await connection.ended();
    await closed;
  });
});

test('the log never has a key in it, at the level that says most', async () => {
  const { send, record, sendRaw, keys, log, store } = await startService();
  for (const key of Object.values(keys)) {
    await send({ key });
    await send({ key: `${key}x` });
    await record(query, { authorization: `Bearer ${key}` });
    await record(`{"id":"${key}","caller":1}`);
    await sendRaw(`GET ${STATS} HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\nbroken\r\n\r\n`, {
      connectionError: true,
    });
  }
  await store.close();
  for (const key of Object.values(keys)) await send({ key });
  expect(log().split('\n').length, 'the log says something of each').toBeGreaterThan(50);
  for (const [name, key] of Object.entries(keys)) {
    expect(log().includes(key), name).toBe(false);
    expect(log().includes(key.slice(-20)), `the end of ${name}`).toBe(false);
  }
});
