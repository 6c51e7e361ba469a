/** How a request names its key. `key-matrix.test.ts` has what a key may do. */
import { describe, expect, test } from 'vitest';
import { errorOf, QUERIES, sharedService } from '../../support/http/http.js';

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
