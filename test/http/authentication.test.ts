import { describe, expect, test } from 'vitest';
import {
  errorOf,
  type KeyName,
  QUERIES,
  STATS,
  sharedService,
  startMs,
  startService,
  type TestRequest,
} from '../support/http.js';

const MALFORMED = 'The API key is malformed: it is mistyped or cut, for its checksum does not fit.';
const MALFORMED_HEADER = 'The Authorization header is malformed; send "Authorization: Bearer <key>".';

/** `key` with one of its characters exchanged for another that could stand there. */
function mistyped(key: string, at: number): string {
  return key.slice(0, at) + (key.charAt(at) === 'a' ? 'b' : 'a') + key.slice(at + 1);
}

const unstored: [what: string, authorization: (key: string) => string, message: string][] = [
  ['no key', () => '', MALFORMED_HEADER],
  ['another scheme', (key) => `Basic ${key}`, MALFORMED_HEADER],
  ['no scheme', (key) => key, MALFORMED_HEADER],
  ['a scheme alone', () => 'Bearer', MALFORMED_HEADER],
  ['a scheme and a space', () => 'Bearer ', MALFORMED_HEADER],
  ['two keys', (key) => `Bearer ${key} ${key}`, MALFORMED_HEADER],
  ['a scheme that only begins like it', (key) => `Bearers ${key}`, MALFORMED_HEADER],
  ['garbage', () => 'Bearer garbage', MALFORMED],
  ['a key in quotes', (key) => `Bearer "${key}"`, MALFORMED],
  ['a key without its end', (key) => `Bearer ${key.slice(0, -1)}`, MALFORMED],
  ['a key without its start', (key) => `Bearer ${key.slice(1)}`, MALFORMED],
  ['a key with more at its end', (key) => `Bearer ${key}0`, MALFORMED],
  ['a key in upper case', (key) => `Bearer ${key.toUpperCase()}`, MALFORMED],
  ['another vendor than the checksum covers', (key) => `Bearer x${key}`, MALFORMED],
  ['a type that there is not', (key) => `Bearer ${key.replace('_admin_', '_owner_')}`, MALFORMED],
  ['the other type', (key) => `Bearer ${key.replace('_admin_', '_recording_')}`, MALFORMED],
  ['a very long key', (key) => `Bearer ${key.repeat(100)}`, MALFORMED],
];

describe('a key that cannot be one is refused without a look into the store', () => {
  const service = sharedService();
  test.each(unstored)('%s', async (_what, authorization, message) => {
    const { send, calls, keys } = service();
    for (const request of [{}, { method: 'POST', path: QUERIES, body: '{}' }]) {
      const headers = { authorization: authorization(keys.admin) };
      const answer = await send({ ...request, key: null, headers });
      expect([answer.status, errorOf(answer)]).toEqual([401, message]);
    }
    expect(calls).toEqual([]);
  });

  test('no Authorization header', async () => {
    const { send, calls } = service();
    const answer = await send({ key: null });
    expect(answer.status).toBe(401);
    expect(errorOf(answer)).toBe('There is no API key; send it as "Authorization: Bearer <key>".');
    expect(calls).toEqual([]);
  });

  test('one character changed, whichever', async () => {
    const { send, calls, keys } = service();
    for (let position = 0; position < keys.admin.length; position++) {
      const answer = await send({ key: mistyped(keys.admin, position) });
      expect([answer.status, errorOf(answer)]).toEqual([401, MALFORMED]);
    }
    expect(calls).toEqual([]);
  });

  test('two neighbouring characters exchanged', async () => {
    const { send, calls, keys } = service();
    const [, start = '', a = '', b = '', end = ''] =
      /^(\w+_admin_.*?)(\w)(?!\2)(\w)(.*)$/.exec(keys.admin) ?? [];
    expect((await send({ key: start + b + a + end })).status).toBe(401);
    expect(calls).toEqual([]);
  });

  test('a key of the wrong type', async () => {
    const { send, calls, keys } = service();
    const answer = await send({ key: keys.recording });
    expect([answer.status, errorOf(answer)]).toEqual([
      401,
      'This needs an API key of type admin; the one sent is of type recording.',
    ]);
    expect(calls).toEqual([]);
  });
});

describe('a key that is looked up', () => {
  test.each<[KeyName, string]>([
    ['unknown', 'The API key is unknown.'],
    ['expired', 'The API key is expired.'],
    ['revoked', 'The API key is revoked.'],
  ])('%s: refused, and its project is not looked for', async (name, message) => {
    const { send, calls, keys } = await startService();
    const answer = await send({ key: keys[name] });
    expect([answer.status, errorOf(answer)]).toEqual([401, message]);
    expect(calls.map(({ method }) => method)).toEqual(['findAccess']);
  });

  test('expires exactly at its time, not a millisecond before', async () => {
    const { send, clock, keys } = await startService();
    clock.nowMs = startMs - 1;
    expect((await send({ key: keys.expired })).status).toBe(200);
    clock.nowMs = startMs;
    expect((await send({ key: keys.expired })).status).toBe(401);
  });

  test('revoked: refused on the very next request', async () => {
    const { send, store, keys } = await startService();
    expect((await send()).status).toBe(200);
    await store.changeKey('default', 'admin', 'revoke', { name: 'a test', address: null, at: startMs });
    const answer = await send();
    expect([answer.status, errorOf(answer)]).toEqual([401, 'The API key is revoked.']);
    expect((await send({ method: 'POST', path: QUERIES })).status).toBe(401);
    expect(
      (await send({ method: 'POST', path: QUERIES, key: keys.recording })).status,
      'other keys live on',
    ).not.toBe(401);
  });

  test.each(['bearer', 'BEARER', 'Bearer '])('the scheme %j is accepted', async (scheme) => {
    const { send, keys } = await startService();
    const headers = { authorization: `${scheme} ${keys.admin}` };
    expect((await send({ key: null, headers })).status).toBe(200);
  });
});

describe('401 comes before everything else', () => {
  const gone = '/v1/analytics/no-such-project/assistant';
  const json = { 'content-type': 'application/json' };
  test.each<[string, TestRequest]>([
    ['404 for a project', { path: `${gone}/caller-stats` }],
    ['404 for an empty project', { path: '/v1/analytics//assistant/caller-stats' }],
    ['400 for a parameter', { path: `${STATS}?dateFrom=nonsense&x=1` }],
    ['400 for a parameter of recording', { method: 'POST', path: `${QUERIES}?x=1` }],
    ['400 for a body', { method: 'POST', path: QUERIES, headers: json, body: '{' }],
    ['405', { method: 'DELETE', path: STATS }],
    ['405 for a preflight', { method: 'OPTIONS', path: STATS, headers: { origin: 'https://a.test' } }],
    ['405 of recording', { method: 'GET', path: QUERIES }],
    ['413', { method: 'POST', path: QUERIES, headers: json, body: ' '.repeat(200) }],
    ['415 for a type', { method: 'POST', path: QUERIES, headers: { 'content-type': 'text/csv' }, body: 'a' }],
    ['415 for no type', { method: 'POST', path: QUERIES, body: 'a' }],
    [
      '415 for an encoding',
      { method: 'POST', path: QUERIES, headers: { ...json, 'content-encoding': 'br' } },
    ],
    ['HEAD', { method: 'HEAD', path: `${gone}/caller-stats` }],
  ])('%s', async (_what, request) => {
    const { send, keys } = await startService({ limits: { bodyBytesMax: 100 } });
    expect((await send({ ...request, key: null })).status).toBe(401);
    expect((await send({ ...request, key: keys.unknown })).status).toBe(401);
    // With the key each of them is refused for something else, so 401 did come before it.
    const { status } = await send(request);
    expect([400, 404, 405, 413, 415]).toContain(status);
  });
});
