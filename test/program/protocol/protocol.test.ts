import { METHODS } from 'node:http';
import { describe, expect, test } from 'vitest';
import { headerBytesMax } from '../../../src/domain/limits.js';
import { errorOf, QUERIES, STATS, sharedService, startService } from '../../support/http/http.js';

describe('a wrong method returns 405 with the allowed ones:', () => {
  const service = sharedService();
  test.each([
    [STATS, 'GET, HEAD'],
    [QUERIES, 'GET, HEAD, POST'],
    ['/livez', 'GET, HEAD'],
    ['/readyz', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
    ['/docs', 'GET, HEAD'],
    ['/docs/settings', 'GET, HEAD'],
    ['/docs/try', 'GET, HEAD'],
    ['/', 'GET, HEAD'],
  ])('%s allows %s', async (path, allow) => {
    const { send, calls } = service();
    // Node does not route CONNECT to the app; see below.
    const wrong = METHODS.filter((method) => method !== 'CONNECT' && !allow.split(', ').includes(method));
    expect(wrong).toContain('OPTIONS');
    for (const method of wrong) {
      const answer = await send({ method, path });
      expect([method, answer.status, answer.headers['allow']]).toEqual([method, 405, allow]);
      if (method !== 'HEAD') {
        expect(errorOf(answer)).toBe(`This path takes no ${method}; it takes ${allow}.`);
      }
    }
    expect(calls.filter(({ method }) => method === 'record' || method === 'count')).toEqual([]);
  });
});

describe('an unknown path returns 404:', () => {
  const service = sharedService();
  test.each([
    '/v1',
    '/v1/',
    '/v1/analytics/docs',
    '/v1/analytics/docs/assistant',
    '/v2/analytics/docs/assistant/caller-stats',
    '/analytics/docs/assistant/caller-stats',
    '/v1/analytics/docs/x/assistant/caller-stats',
    `${STATS}/`,
    `${STATS}.json`,
    `${STATS}%20`,
    `${STATS}//`,
    `/${STATS}`,
    '/V1/analytics/docs/assistant/caller-stats',
    '/v1/analytics/docs/assistant/Caller-Stats',
    '/v1/analytics/docs/assistant%2Fcaller-stats',
    `${QUERIES}/`,
    '/livez/',
    '/LIVEZ',
    '/.env',
    '/favicon.ico',
  ])('%s', async (path) => {
    const { sendRaw, send } = service();
    const message = 'There is no such route; /docs shows those that are.';
    const answer = await sendRaw(`GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`);
    expect([answer.status, errorOf(answer)]).toEqual([404, message]);
    if (!path.startsWith('//')) expect((await send({ method: 'POST', path })).status).toBe(404);
  });

  test.each([
    '/docs/nothing',
    '/docs/nothing/',
    '/docs/settings.html',
    '/docs/index',
    '/docs/404',
    '/docs/hashmap.json',
    '/docs/assets/',
    '/docs/assets/nothing.js',
    '/docs/assets/..%2f..%2fpackage.json',
    '/docs/assets/../settings.html',
    '/docs/files/..%2fsettings.html',
    '/docs/try/nothing.js',
  ])('%s below the docs', async (path) => {
    const { sendRaw } = service();
    const answer = await sendRaw(`GET ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n`);
    expect(answer.status).toBe(404);
  });
});

const BAD_URL = 'The URL is malformed: a % in it begins no character of UTF-8; write % itself as %25.';

test('a path that cannot be decoded returns 400', async () => {
  const { send } = await startService();
  for (const path of ['/%zz', '/%', STATS.replace('docs', '%zz'), QUERIES.replace('docs', '%FF')]) {
    const answer = await send({ path });
    expect([answer.status, errorOf(answer)], path).toEqual([400, BAD_URL]);
    for (const method of ['HEAD', 'POST']) expect((await send({ method, path })).status, path).toBe(400);
  }
});

const host = 'Host: test\r\n';
const INVALID = 'The request is not valid HTTP/1.1.';
const json = 'Content-Type: application/json\r\n';
const post = `POST ${QUERIES} HTTP/1.1\r\n${host}`;
const TOO_LARGE = 'The URL and headers together are too large; they may have 16384 bytes.';

/** Requests that do not reach an operation: bytes, status, error message. */
const BROKEN: [what: string, bytes: string, status: number, message: string][] = [
  ['large headers', `GET /livez HTTP/1.1\r\n${host}X: ${'x'.repeat(headerBytesMax)}\r\n\r\n`, 431, TOO_LARGE],
  ['a long URL', `GET /${'x'.repeat(headerBytesMax)} HTTP/1.1\r\n${host}\r\n`, 431, TOO_LARGE],
  ['something else than HTTP', 'hello\r\n\r\n', 400, INVALID],
  ['TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n', 400, INVALID],
  ['an unknown method', `FETCH ${STATS} HTTP/1.1\r\n${host}\r\n`, 400, INVALID],
  ['a space in the URL', `GET /a b HTTP/1.1\r\n${host}\r\n`, 400, INVALID],
  ['a URL that is not ASCII', `GET /é HTTP/1.1\r\n${host}\r\n`, 400, INVALID],
  ['a header without colon', `GET /livez HTTP/1.1\r\n${host}broken\r\n\r\n`, 400, INVALID],
  ['a NUL in a header', `GET /livez HTTP/1.1\r\n${host}X: a\0b\r\n\r\n`, 400, INVALID],
  ['a Content-Length that is not a number', `${post}Content-Length: x\r\n\r\n`, 400, INVALID],
  ['a negative Content-Length', `${post}Content-Length: -1\r\n\r\n`, 400, INVALID],
  ['two Content-Lengths', `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n[]`, 400, INVALID],
  [
    'Content-Length and Transfer-Encoding',
    `${post}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    INVALID,
  ],
  ['an unsupported Transfer-Encoding', `${post}Transfer-Encoding: gzip\r\n\r\n`, 400, INVALID],
  [
    'CONNECT',
    `CONNECT other.test:443 HTTP/1.1\r\n${host}\r\n`,
    405,
    'This server is not a proxy and does not support CONNECT.',
  ],
  [
    'an unsupported Expect',
    `GET /livez HTTP/1.1\r\n${host}Expect: tea\r\n\r\n`,
    417,
    'The Expect header asks for what this server cannot do.',
  ],
];

describe('an invalid request gets a JSON error and its connection is closed:', () => {
  const service = sharedService();
  test.each(BROKEN)('%s', async (_what, bytes, status, message) => {
    const { sendRaw, calls } = service();
    const answer = await sendRaw(Buffer.from(bytes, 'latin1'), { connectionError: true });
    expect([answer.status, errorOf(answer)]).toEqual([status, message]);
    expect(answer.headers['connection']).toBe('close');
    expect(answer.headers['allow']).toBe(status === 405 ? 'GET, HEAD, POST' : undefined);
    expect(calls).toEqual([]);
  });

  test('that tells browsers to use HTTPS, if the public URL begins with it', async () => {
    const { sendRaw } = await startService({ users: { publicUrl: 'https://stats.example.org' } });
    for (const [what, bytes] of [
      ...BROKEN,
      ['a path that cannot be decoded', `GET /%ff HTTP/1.1\r\n${host}\r\n`],
    ] as const) {
      const answer = await sendRaw(Buffer.from(bytes, 'latin1'), { connectionError: true });
      expect([what, answer.headers['strict-transport-security']]).toEqual([
        what,
        'max-age=31536000; includeSubDomains',
      ]);
    }
  });

  test('invalid data between chunks', async () => {
    const { sendRaw, keys, store } = await startService();
    const head = `${post}Authorization: Bearer ${keys.admin}\r\n${json}`;
    const chunk = '19\r\n{"id":"a","caller":"web"}\r\n';
    const answer = await sendRaw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}zz\r\n\r\n`, {
      connectionError: true,
    });
    expect([answer.status, errorOf(answer)]).toEqual([400, INVALID]);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('a complete request before invalid data gets its own response first, because it was recorded', async () => {
    const { connect, read, keys } = await startService();
    const connection = await connect();
    const head = `${post}Authorization: Bearer ${keys.admin}\r\n${json}`;
    const body = '{"id":"a","caller":"web"}';
    connection.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}${body}`);
    const answer = await read(connection, { method: 'POST', path: QUERIES });
    expect([answer.status, answer.text]).toEqual([200, '{"recorded":1,"duplicates":0}']);
    const refusal = await read(connection, { method: 'POST', path: QUERIES, connectionError: true });
    expect([refusal.status, errorOf(refusal)]).toEqual([400, INVALID]);
    await connection.ended();
  });

  test.each([
    ['is answered after it', json, 400, INVALID],
    ['was refused before', 'Content-Type: text/csv\r\n', 415, undefined],
  ])('also if the invalid data belongs to a request that %s', async (_what, type, status, message) => {
    const { connect, read, keys } = await startService();
    const connection = await connect();
    const head = `${post}Authorization: Bearer ${keys.admin}\r\n`;
    const body = '{"id":"a","caller":"web"}';
    const complete = `${head}${json}Content-Length: ${body.length}\r\n\r\n${body}`;
    connection.write(`${complete}${head}${type}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`);
    const answer = await read(connection, { method: 'POST', path: QUERIES });
    expect([answer.status, answer.text]).toEqual([200, '{"recorded":1,"duplicates":0}']);
    const refusal = await read(connection, {
      method: 'POST',
      path: QUERIES,
      connectionError: status === 400,
    });
    expect(refusal.status).toBe(status);
    if (message !== undefined) expect(errorOf(refusal)).toBe(message);
    await connection.ended();
  });
});

test('a client that ends its side after its requests learns whether its queries were recorded', async () => {
  const { connect, read, keys, store } = await startService();
  const connection = await connect();
  const body = '{"id":"a","caller":"web"}';
  for (const key of [keys.admin, 'unknown'])
    connection.write(
      `${post}Authorization: Bearer ${key}\r\n${json}Content-Length: ${body.length}\r\n\r\n${body}`,
    );
  connection.endWriting();
  const recorded = await read(connection, { method: 'POST', path: QUERIES });
  expect([recorded.status, recorded.text]).toEqual([200, '{"recorded":1,"duplicates":0}']);
  expect((await read(connection, { method: 'POST', path: QUERIES })).status).toBe(401);
  await connection.ended();
  expect((await store.maintenance.verify()).queries).toBe(1);
});

describe('a request whose body is rejected unread', () => {
  test.each([
    ['short', 1_000],
    ['long', 300_000],
  ])('does not delay the next request on its connection: a %s body', async (_what, bytes) => {
    const { connect, read, keys } = await startService();
    const connection = await connect();
    const head = `${host}Authorization: Bearer ${keys.admin}\r\n`;
    const refused = `POST ${QUERIES} HTTP/1.1\r\n${head}Content-Type: text/csv\r\nContent-Length: ${bytes}\r\n\r\n`;
    connection.write(`${refused}${'a'.repeat(bytes)}GET ${STATS} HTTP/1.1\r\n${head}\r\n`);
    expect(await read(connection, { method: 'POST', path: QUERIES })).toMatchObject({ status: 415 });
    expect(await read(connection, { method: 'GET', path: STATS })).toMatchObject({ status: 200 });
  });
});

describe('the headers Host and Authorization', () => {
  const service = sharedService();
  test.each(['/livez', STATS, '/nowhere'])('Host is required by HTTP/1.1: %s', async (path) => {
    const { sendRaw } = service();
    const answer = await sendRaw(`GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`, {
      connectionError: true,
    });
    expect([answer.status, errorOf(answer)]).toEqual([400, 'The request has no Host header.']);
  });

  test.each(['a b', 'a"b', 'a/b', 'a@b', 'a\\b', '<a>', 'a:b', '[::1', 'ä'])(
    'Host names a host, which %s does not (RFC 9112, section 3.2)',
    async (name) => {
      const { sendRaw } = service();
      const answer = await sendRaw(`GET ${STATS} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`, {
        connectionError: true,
      });
      expect([answer.status, errorOf(answer)]).toEqual([400, 'The Host header is not the name of a host.']);
    },
  );

  test.each(['', 'stats_1.internal', 'a.test:', 'a.test:8080', '[::1]:4000', '127.0.0.1'])(
    'Host may be %j',
    async (name) => {
      const { sendRaw } = service();
      const answer = await sendRaw(`GET /livez HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`);
      expect(answer.status).toBe(200);
    },
  );

  test('Host may not be repeated (RFC 9112, section 3.2)', async () => {
    const { sendRaw } = service();
    const answer = await sendRaw(`GET /livez HTTP/1.1\r\n${host}Host: other\r\nConnection: close\r\n\r\n`, {
      connectionError: true,
    });
    expect(answer.status).toBe(400);
  });

  test.each([STATS, '/api/session', '/livez'])('Authorization may not be repeated: %s', async (path) => {
    const { sendRaw, keys } = service();
    for (const [first, second] of [
      [keys.admin, 'another'],
      ['another', keys.admin],
    ]) {
      const two = `Authorization: Bearer ${first}\r\nauthorization: Bearer ${second}\r\n`;
      const answer = await sendRaw(`GET ${path} HTTP/1.1\r\n${host}${two}Connection: close\r\n\r\n`, {
        connectionError: true,
      });
      const message = 'The request has more than one Authorization header.';
      expect([answer.status, errorOf(answer)]).toEqual([400, message]);
    }
  });

  test.each(['GET', 'HEAD', 'POST', 'DELETE'])('%s * is refused', async (method) => {
    const answer = await service().sendRaw(
      `${method} * HTTP/1.1\r\nHost: test\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
    );
    expect(answer.status).toBe(400);
  });

  test('Host is optional in HTTP/1.0', async () => {
    expect((await service().sendRaw('GET /livez HTTP/1.0\r\n\r\n')).status).toBe(200);
  });
});
