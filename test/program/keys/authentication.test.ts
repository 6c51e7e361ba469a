/** How a request names its key. `key-matrix.test.ts` has what a key may do. */
import { describe, expect, test } from 'vitest';
import { errorOf, QUERIES, STATS, sharedService } from '../../support/http/http.js';

const MALFORMED = 'The API key is malformed: it is mistyped or cut, for its checksum does not fit.';
const MALFORMED_HEADER = 'The Authorization header is malformed; send "Authorization: Bearer <key>".';

const malformed: [what: string, authorization: (key: string) => string, message: string][] = [
  ['an empty header', () => '', MALFORMED_HEADER],
  ['another scheme', (key) => `Basic ${key}`, MALFORMED_HEADER],
  ['no scheme', (key) => key, MALFORMED_HEADER],
  ['a scheme without a key', () => 'Bearer', MALFORMED_HEADER],
  ['two keys', (key) => `Bearer ${key} ${key}`, MALFORMED_HEADER],
  ['a scheme that begins with Bearer', (key) => `Bearers ${key}`, MALFORMED_HEADER],
  ['garbage', () => 'Bearer garbage', MALFORMED],
  ['a very long key', (key) => `Bearer ${key.repeat(100)}`, MALFORMED],
];

describe('rejects without a look-up', () => {
  const service = sharedService();
  test.each(malformed)('%s', async (_what, authorization, message) => {
    const { send, calls, keys } = service();
    for (const request of [{}, { method: 'POST', path: QUERIES, body: '{}' }]) {
      const headers = { authorization: authorization(keys.admin) };
      const answer = await send({ ...request, key: null, headers });
      expect([answer.status, errorOf(answer)]).toEqual([401, message]);
    }
    expect(calls).toEqual([]);
  });

  test('a request without an Authorization header', async () => {
    const { send, calls } = service();
    const answer = await send({ key: null });
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toBe('There is no API key; send it as "Authorization: Bearer <key>".');
    expect(calls).toEqual([]);
  });

  test('a key of the wrong type', async () => {
    const { send, calls, keys } = service();
    const answer = await send({ key: keys.recording });
    expect([answer.status, errorOf(answer)]).toEqual([
      401,
      'This needs an API key of type admin or reading; the one sent is of type recording.',
    ]);
    expect(calls).toEqual([]);
  });
});

describe('looks up the key and', () => {
  const service = sharedService();
  test('rejects an unknown one before it looks for the project', async () => {
    const { send, calls, keys } = service();
    const answer = await send({ key: keys.unknown });
    expect([answer.status, errorOf(answer)]).toEqual([401, 'The API key is unknown.']);
    expect(calls.map(({ method }) => method)).toEqual(['findAccess']);
  });

  test.each(['bearer', 'BEARER', 'Bearer '])('accepts the scheme %j', async (scheme) => {
    const { send, keys } = service();
    const headers = { authorization: `${scheme} ${keys.admin}` };
    expect((await send({ key: null, headers })).status).toBe(200);
  });
});

describe('names the redirect and its target to', () => {
  const service = sharedService({ basePath: '/stats' });
  const publicService = sharedService({
    basePath: '/stats',
    users: { publicUrl: 'https://stats.example.org' },
  });
  const host = { host: 'assistant.example.org:8080' };
  const behindProxy = { ...host, 'x-forwarded-proto': 'https' };
  const PATHS = [
    QUERIES,
    '/v1/traces',
    '/v1/logs',
    '/v1/analytics/docs/assistant/corrections',
    '/v1/analytics/docs/assistant/imported-counts',
    '/mcp',
  ];
  const hint = (method: string, url: string) =>
    `if you sent a POST with a key, a redirect has made this ${method} of it; send it to ${url} itself.`;

  test.each(PATHS)('a GET of %s without a key', async (path) => {
    const { send } = service();
    const answer = await send({ path: `/stats${path}?a=secret`, key: null, headers: host });
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toMatch(/^There is no API key; .*: if you sent/);
    expect(errorOf(answer)).toContain(hint('GET', `http://assistant.example.org:8080/stats${path}`));
    const proxied = await send({ path: `/stats${path}`, key: null, headers: behindProxy });
    expect(errorOf(proxied)).toContain(hint('GET', `https://assistant.example.org:8080/stats${path}`));
    const known = await publicService().send({ path: `/stats${path}`, key: null, headers: host });
    expect(errorOf(known)).toContain(hint('GET', `https://stats.example.org/stats${path}`));
  });

  test.each(['/v1/traces', '/v1/logs'])('a GET of %s with a recording key', async (path) => {
    const { send, keys } = service();
    const answer = await send({ path: `/stats${path}`, key: keys.recording, headers: host });
    expect(answer.status).toBe(405);
    expect(errorOf(answer)).toContain(hint('GET', `http://assistant.example.org:8080/stats${path}`));
  });

  test('a POST that has lost its body and its key', async () => {
    const answer = await service().send({
      method: 'POST',
      path: `/stats${QUERIES}`,
      key: null,
      headers: host,
    });
    expect(errorOf(answer)).toContain(hint('POST', `http://assistant.example.org:8080/stats${QUERIES}`));
  });

  test.each(PATHS)('a POST of %s that has lost its key alone', async (path) => {
    const sent = { method: 'POST', path: `/stats${path}`, key: null, body: '{}' };
    const answer = await service().send({ ...sent, headers: behindProxy });
    const url = `https://assistant.example.org:8080/stats${path}`;
    expect(errorOf(answer)).toContain(
      `: if you sent a key, a redirect has left it out; send it to ${url} itself.`,
    );
    const wrong = await service().send({ ...sent, key: 'wrong' });
    expect(errorOf(wrong)).not.toContain('redirect');
  });

  test.each<[what: string, request: { method?: string; path: string }]>([
    ['a GET of counts', { path: STATS }],
    ['another method', { method: 'PUT', path: QUERIES }],
    ['a path of the dashboard', { path: '/api/sign-in' }],
  ])('nobody else: %s', async (_what, request) => {
    const answer = await service().send({ ...request, path: `/stats${request.path}`, key: null });
    expect([401, 405]).toContain(answer.status);
    expect(errorOf(answer)).not.toContain('redirect');
  });
});
