import { describe, expect, test } from 'vitest';
import { errorOf, type KeyName, QUERIES, sharedService, startMs } from '../support/http/http.js';

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
  ['a key without its last character', (key) => `Bearer ${key.slice(0, -1)}`, MALFORMED],
  ['a key with another prefix', (key) => `Bearer x${key}`, MALFORMED],
  ['a key whose type was changed', (key) => `Bearer ${key.replace('_admin_', '_recording_')}`, MALFORMED],
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

  test('a key with two adjacent characters swapped', async () => {
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
      'This needs an API key of type admin or reading; the one sent is of type recording.',
    ]);
    expect(calls).toEqual([]);
  });
});

describe('looks up the key and', () => {
  const service = sharedService();
  test.each<[KeyName, string]>([
    ['unknown', 'The API key is unknown.'],
    ['expired', 'The API key is expired.'],
    ['revoked', 'The API key is revoked.'],
  ])('rejects an %s key before it looks for the project', async (name, message) => {
    const { send, calls, keys } = service();
    const answer = await send({ key: keys[name] });
    expect([answer.status, errorOf(answer)]).toEqual([401, message]);
    expect(calls.map(({ method }) => method)).toEqual(['findAccess']);
  });

  test('accepts it until its expiry time', async () => {
    const { send, clock, keys } = service();
    clock.nowMs = startMs - 1;
    expect((await send({ key: keys.expired })).status).toBe(200);
    clock.nowMs = startMs;
    expect((await send({ key: keys.expired })).status).toBe(401);
  });

  test.each(['bearer', 'BEARER', 'Bearer '])('accepts the scheme %j', async (scheme) => {
    const { send, keys } = service();
    const headers = { authorization: `${scheme} ${keys.admin}` };
    expect((await send({ key: null, headers })).status).toBe(200);
  });
});
