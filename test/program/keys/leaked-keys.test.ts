/** A report of a leaked key revokes the key. The response reveals nothing about it. */
import { describe, expect, test } from 'vitest';
import {
  detailsOf,
  errorOf,
  type KeyName,
  QUERIES,
  type Service,
  STATS,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';
import { type Answer, withoutDate } from '../../support/http/http-checks.js';
import { requireNoKey } from '../../support/secrets.js';

const path = '/v1/leaked-keys';
const json = { 'content-type': 'application/json' };
const from = '198.51.100.7';

const MISSING = 'key: is missing, or not a string; send {"key": "…"}';

function report({ send }: Pick<Service, 'send'>, body: unknown): Promise<Answer> {
  return send({ method: 'POST', path, key: null, headers: json, body: JSON.stringify(body), from });
}

describe('an invalid report:', () => {
  const service = sharedService();
  test.each<[what: string, body: string, problems: string[]]>([
    ['an empty object', '{}', [MISSING]],
    ['a number', '{"key":1}', [MISSING]],
    ['null', '{"key":null}', [MISSING]],
    ['an extra field', '{"key":"x","url":"y"}', ['"url": is not a field here; there is key']],
    ['a mistyped field', '{"keys":"x"}', ['"keys": is not a field here; did you mean key?', MISSING]],
    ['a prototype', '{"key":"x","__proto__":{}}', ['"__proto__": is not a field here; there is key']],
  ])('%s returns 400', async (_what, body, problems) => {
    const { send, calls } = service();
    const answer = await send({ method: 'POST', path, key: null, headers: json, body });
    const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
    expect([answer.status, errorOf(answer)]).toEqual([400, `The request is invalid: ${problems[0]}${more}.`]);
    expect(detailsOf(answer)).toEqual(problems);
    expect(calls).toEqual([]);
  });

  test.each([
    ['not JSON', '{"key":'],
    ['not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['an array', '[{"key":"x"}]'],
    ['JSON’s null', 'null'],
    ['no body', ''],
  ])('%s returns 400 with one error', async (_what, body) => {
    const { send, calls } = service();
    const answer = await send({ method: 'POST', path, key: null, headers: json, body });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(/^The (body|request) is /);
    expect(calls).toEqual([]);
  });

  test('query parameters return 400', async () => {
    const { send, calls, keys } = service();
    const body = JSON.stringify({ key: keys.admin });
    const answer = await send({ method: 'POST', path: `${path}?x=1`, key: null, headers: json, body });
    expect(answer.status).toBe(400);
    expect(calls).toEqual([]);
  });

  test.each<[string, Record<string, string>]>([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['no type', {}],
    ['gzip', { ...json, 'content-encoding': 'gzip' }],
  ])('%s returns 415', async (_what, headers) => {
    const { send, calls, keys } = service();
    const body = JSON.stringify({ key: keys.admin });
    const answer = await send({ method: 'POST', path, key: null, headers, body });
    expect(answer.status).toBe(415);
    expect(answer.headers['accept-encoding']).toBe('content-encoding' in headers ? 'identity' : undefined);
    expect(calls).toEqual([]);
  });

  test('a wrong method returns 405', async () => {
    const { send, calls } = service();
    for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const answer = await send({ method, path, key: null });
      expect([answer.status, answer.headers['allow']], method).toEqual([405, 'POST']);
    }
    expect(calls).toEqual([]);
  });

  test('a body of more than 4 KiB returns 413', async () => {
    const { send, calls } = service();
    const sized = (bytes: number) => `{"key":"${'x'.repeat(bytes - '{"key":""}'.length)}"}`;
    const statusOf = async (body: string) =>
      (await send({ method: 'POST', path, key: null, headers: json, body })).status;
    expect(await statusOf(sized(4096))).toBe(200);
    expect(await statusOf(sized(4097))).toBe(413);
    expect(calls).toEqual([]);
  });

  test.each([
    ['its Content-Length is too large, before its body arrives', 'Content-Length: 4097\r\n\r\n'],
    [
      'its chunks are too large, before the last one arrives',
      `Transfer-Encoding: chunked\r\n\r\n1001\r\n${' '.repeat(4097)}\r\n`,
    ],
  ])('a body returns 413 if %s', async (_what, rest) => {
    const { sendRaw, calls } = service();
    const head = `POST ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    const answer = await sendRaw(head + rest);
    expect(answer.status).toBe(413);
    expect(calls).toEqual([]);
  });
});

/** Reports that revoke a key, and its name. */
const EFFECTIVE: [what: string, keyOf: (service: Service) => string, revoked: KeyName][] = [
  ['an admin key', ({ keys }) => keys.admin, 'admin'],
  ['a recording key', ({ keys }) => keys.recording, 'recording'],
  ['a key of another organization', ({ keys }) => keys.rivalAdmin, 'rivalAdmin'],
  ['a disabled key', ({ keys }) => keys.disabled, 'disabled'],
  ['an expired key', ({ keys }) => keys.expired, 'expired'],
  ['a key with white space around it', ({ keys }) => ` \t${keys.admin}\r\n`, 'admin'],
];

/** Reports without effect: keys that are revoked or unknown, and texts that are no key. */
const ineffective = ({ keys }: Service): string[] => [
  keys.revoked,
  keys.unknown,
  `${keys.admin.slice(0, -1)}-`,
  keys.admin.slice(0, -1),
  `${keys.admin}0`,
  `Bearer ${keys.admin}`,
  keys.admin.slice(0, 13),
  '',
  "x' OR '1'='1\u0000\ud800",
  'x'.repeat(4000),
];

/** The ids of the revoked keys of both organizations. */
async function listRevoked({ store }: Service): Promise<string[]> {
  const all = [...(await store.directory.listKeys('default')), ...(await store.directory.listKeys('rival'))];
  return all
    .filter(({ revokedAt }) => revokedAt !== null)
    .map(({ id }) => id)
    .sort();
}

async function listReports({ store }: Service, organizationId: string) {
  const entries = await store.directory.readAudit(organizationId, { limit: 1000 });
  return entries.filter(({ actor }) => actor === 'leak report');
}

describe('a report', () => {
  test('always gets the same response', async () => {
    const service = await startService({ limits: { failuresPerMinute: 100 } });
    const responses = new Set<string>();
    for (const key of [...EFFECTIVE.map(([, keyOf]) => keyOf(service)), ...ineffective(service)]) {
      for (let time = 0; time < 2; time++) {
        const text = JSON.stringify(withoutDate(await report(service, { key })));
        responses.add(text.replace(/r=\d+/, 'r=…').replace(/t=\d+/, 't=…'));
      }
    }
    expect([...responses]).toHaveLength(1);
    expect(JSON.parse([...responses][0] ?? '')).toMatchObject({ status: 200, text: '{"status":"received"}' });
  });

  test('of a text that is not an active key revokes nothing', async () => {
    const service = await startService();
    for (const key of ineffective(service)) expect((await report(service, { key })).status).toBe(200);
    expect(await listRevoked(service)).toEqual(['revoked']);
    for (const organization of ['default', 'rival'])
      expect(await listReports(service, organization)).toEqual([]);
  });

  test.each(EFFECTIVE)('of %s revokes only that key, once', async (_what, keyOf, revoked) => {
    const service = await startService();
    for (const at of [startMs + 5, startMs + 6]) {
      service.clock.nowMs = at;
      expect((await report(service, { key: keyOf(service) })).status).toBe(200);
    }
    expect(await listRevoked(service)).toEqual(['revoked', revoked].sort());
    const [own, other] = revoked === 'rivalAdmin' ? ['rival', 'default'] : ['default', 'rival'];
    const entries = await listReports(service, own);
    expect(entries).toMatchObject([
      { action: 'key.revoke', targetId: revoked, address: from, at: startMs + 5 },
    ]);
    expect(await listReports(service, other)).toEqual([]);
    requireNoKey(JSON.stringify(entries), Object.values(service.keys), 'the audit log');
  });

  test('needs no key and ignores one that is sent', async () => {
    const service = await startService();
    const { addKey, send, keys, calls } = service;
    const reading = await addKey('reading', { type: 'admin', scopes: ['read'], allow: ['192.0.2.1'] });
    calls.length = 0;
    const body = JSON.stringify({ key: keys.admin });
    const answer = await send({ method: 'POST', path, key: reading, headers: json, body });
    expect(answer.status).toBe(200);
    expect(calls.map(({ method }) => method)).toEqual(['revokeLeakedKey']);
    expect(await listRevoked(service)).toEqual(['admin', 'revoked']);
  });

  test('takes effect from the next request on', async () => {
    const service = await startService();
    const { send, keys } = service;
    const record = { method: 'POST', path: QUERIES, headers: json, body: '{"id":"a","caller":"web"}' };
    expect((await send()).status).toBe(200);
    expect((await send({ ...record, key: keys.recording })).status).toBe(200);
    await report(service, { key: keys.recording });
    const refused = await send({ ...record, key: keys.recording });
    expect([refused.status, errorOf(refused)]).toEqual([401, 'The API key is revoked.']);
    expect((await send({ path: STATS })).status, 'other keys live on').toBe(200);
    await report(service, { key: keys.admin });
    expect((await send({ path: STATS })).status).toBe(401);
  });

  test('is audited once if it is sent many times concurrently', async () => {
    const service = await startService();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => report(service, { key: service.keys.admin })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await listReports(service, 'default')).toHaveLength(1);
  });

  test('returns 503 while the store is unavailable', async () => {
    const service = await startService();
    await service.store.close();
    expect((await report(service, { key: service.keys.admin })).status).toBe(503);
    expect((await report(service, { key: 'garbage' })).status, 'needs no store').toBe(200);
  });
});
