/** The report of a leaked key: whoever sends it learns nothing, and the key is gone. */
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
} from '../support/http.js';
import type { Answer } from '../support/http-checks.js';
import { requireNoKey } from '../support/secrets.js';

const path = '/v1/leaked-keys';
const json = { 'content-type': 'application/json' };
const from = '198.51.100.7';

function reportTo({ send }: Pick<Service, 'send'>, body: unknown): Promise<Answer> {
  return send({ method: 'POST', path, key: null, headers: json, body: JSON.stringify(body), from });
}

/** All that a client sees, but for the time. */
function seen({ status, headers, text }: Answer): unknown {
  return { status, text, headers: { ...headers, date: undefined } };
}

describe('what is no report', () => {
  const service = sharedService();
  test.each<[what: string, body: string, problems: string[]]>([
    ['nothing in it', '{}', ['key: is missing, or not a string; send {"key": "…"}']],
    ['a number', '{"key":1}', ['key: is missing, or not a string; send {"key": "…"}']],
    ['null', '{"key":null}', ['key: is missing, or not a string; send {"key": "…"}']],
    ['a list of keys', '{"key":["x"]}', ['key: is missing, or not a string; send {"key": "…"}']],
    ['an array', '["x"]', ['key: is missing, or not a string; send {"key": "…"}']],
    ['an array of reports', '[{"key":"x"}]', ['key: is missing, or not a string; send {"key": "…"}']],
    ['a text', '"x"', ['key: is missing, or not a string; send {"key": "…"}']],
    ['JSON’s null', 'null', ['key: is missing, or not a string; send {"key": "…"}']],
    ['more than a key', '{"key":"x","url":"y"}', ['"url": is not a field here; there is key']],
    [
      'a mistyped field',
      '{"keys":"x"}',
      [
        'key: is missing, or not a string; send {"key": "…"}',
        '"keys": is not a field here; did you mean key?',
      ],
    ],
    ['a prototype', '{"key":"x","__proto__":{}}', ['"__proto__": is not a field here; there is key']],
  ])('%s: 400', async (_what, body, problems) => {
    const { send, calls } = service();
    const answer = await send({ method: 'POST', path, key: null, headers: json, body });
    expect([answer.status, errorOf(answer)]).toEqual([400, 'The report is invalid.']);
    expect(detailsOf(answer)).toEqual(problems);
    expect(calls).toEqual([]);
  });

  test.each([
    ['not JSON', '{"key":'],
    ['not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['no body', ''],
  ])('%s: 400', async (_what, body) => {
    const { send, calls } = service();
    const answer = await send({ method: 'POST', path, key: null, headers: json, body });
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatch(/^The (body|report) is /);
    expect(calls).toEqual([]);
  });

  test('parameters: 400', async () => {
    const { send, calls, keys } = service();
    const answer = await send({
      method: 'POST',
      path: `${path}?x=1`,
      key: null,
      headers: json,
      body: JSON.stringify({ key: keys.admin }),
    });
    expect(answer.status).toBe(400);
    expect(calls).toEqual([]);
  });

  test.each<[string, Record<string, string>]>([
    ['NDJSON', { 'content-type': 'application/x-ndjson' }],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text', { 'content-type': 'text/plain' }],
    ['no type', {}],
    ['gzip', { ...json, 'content-encoding': 'gzip' }],
    ['brotli', { ...json, 'content-encoding': 'br' }],
  ])('%s: 415', async (_what, headers) => {
    const { send, calls, keys } = service();
    const body = JSON.stringify({ key: keys.admin });
    const answer = await send({ method: 'POST', path, key: null, headers, body });
    expect(answer.status).toBe(415);
    expect(answer.headers['accept-encoding']).toBe('content-encoding' in headers ? 'identity' : undefined);
    expect(calls).toEqual([]);
  });

  test.each(['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s: 405', async (method) => {
    const { send, calls } = service();
    const answer = await send({ method, path, key: null });
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'POST']);
    expect(calls).toEqual([]);
  });

  test('413 from the first byte past 4 KiB', async () => {
    const { send, calls } = service();
    const sized = (bytes: number) => `{"key":"${'x'.repeat(bytes - '{"key":""}'.length)}"}`;
    const statusOf = async (body: string) =>
      (await send({ method: 'POST', path, key: null, headers: json, body })).status;
    expect(await statusOf(sized(4096))).toBe(200);
    expect(await statusOf(sized(4097))).toBe(413);
    expect(calls).toEqual([]);
  });

  test.each([
    ['by its Content-Length, before any of it is read', 'Content-Length: 4097\r\n\r\n'],
    [
      'by its chunks, when they pass it, with more to come',
      `Transfer-Encoding: chunked\r\n\r\n1001\r\n${' '.repeat(4097)}\r\n`,
    ],
  ])('413 %s', async (_what, rest) => {
    const { sendRaw, calls } = service();
    const head = `POST ${path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    const answer = await sendRaw(head + rest);
    expect(answer.status).toBe(413);
    expect(calls).toEqual([]);
  });
});

/** What may be reported: who has it in the end revoked that had not before. */
const REPORTS: [what: string, keyOf: (service: Service) => string, revoked: KeyName | null][] = [
  ['an admin key', ({ keys }) => keys.admin, 'admin'],
  ['a recording key', ({ keys }) => keys.recording, 'recording'],
  ['a key of another organization', ({ keys }) => keys.rivalAdmin, 'rivalAdmin'],
  ['a disabled key', ({ keys }) => keys.disabled, 'disabled'],
  ['an expired key', ({ keys }) => keys.expired, 'expired'],
  ['a revoked key', ({ keys }) => keys.revoked, null],
  ['an unknown key', ({ keys }) => keys.unknown, null],
  ['a mistyped key', ({ keys }) => `${keys.admin.slice(0, -1)}-`, null],
  ['a key without its end', ({ keys }) => keys.admin.slice(0, -1), null],
  ['a key with more', ({ keys }) => `${keys.admin}0`, null],
  ['a key with white space around it', ({ keys }) => ` \t${keys.admin}\r\n`, 'admin'],
  ['a scheme and a key', ({ keys }) => `Bearer ${keys.admin}`, null],
  ['the start of a key', ({ keys }) => keys.admin.slice(0, 13), null],
  ['nothing', () => '', null],
  ['garbage', () => "x' OR '1'='1\u0000\ud800", null],
  ['a long text', () => 'x'.repeat(4000), null],
];

/** Every key's id that is revoked, in both organizations. */
async function revokedIn({ store }: Service): Promise<string[]> {
  const all = [...(await store.listKeys('default')), ...(await store.listKeys('rival'))];
  return all
    .filter(({ revokedAt }) => revokedAt !== null)
    .map(({ id }) => id)
    .sort();
}

async function reportsIn({ store }: Service, organizationId: string) {
  const entries = await store.readAudit(organizationId, { limit: 1000 });
  return entries.filter(({ actor }) => actor === 'leak report');
}

describe('a report', () => {
  test('has the same answer whatever is reported', async () => {
    const answers = new Set<string>();
    for (const [, keyOf] of REPORTS) {
      const service = await startService({ limits: { failuresPerMinute: 100 } });
      for (let time = 0; time < 2; time++) {
        const answer = await reportTo(service, { key: keyOf(service) });
        const left = `r=${99 - time};`;
        answers.add(JSON.stringify(seen(answer)).replace(left, 'r=…;').replace(/t=\d+/, 't=…'));
      }
    }
    expect([...answers]).toHaveLength(1);
    expect(JSON.parse([...answers][0] ?? '')).toMatchObject({ status: 200, text: '{"status":"received"}' });
  });

  test.each(REPORTS)('of %s revokes that one, once, and no other', async (_what, keyOf, revoked) => {
    const service = await startService();
    service.clock.nowMs = startMs + 5;
    expect((await reportTo(service, { key: keyOf(service) })).status).toBe(200);
    service.clock.nowMs = startMs + 6;
    expect((await reportTo(service, { key: keyOf(service) })).status).toBe(200);
    expect(await revokedIn(service)).toEqual(['revoked', ...(revoked === null ? [] : [revoked])].sort());
    const theirs = revoked === 'rivalAdmin' ? 'rival' : 'default';
    const entries = await reportsIn(service, theirs);
    expect(entries.length).toBe(revoked === null ? 0 : 1);
    expect(await reportsIn(service, theirs === 'rival' ? 'default' : 'rival')).toEqual([]);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        action: 'key.revoke',
        targetId: revoked,
        address: from,
        at: startMs + 5,
      });
      requireNoKey(JSON.stringify(entry), Object.values(service.keys), 'the audit log');
    }
  });

  test('needs no key, and one that is sent counts for nothing: not its scope, its allowlist, its use', async () => {
    const service = await startService();
    const { addKey, send, keys, calls } = service;
    const reading = await addKey('reading', { type: 'admin', scopes: ['read'], allow: ['192.0.2.1'] });
    calls.length = 0;
    const body = JSON.stringify({ key: keys.admin });
    const answer = await send({ method: 'POST', path, key: reading, headers: json, body });
    expect(answer.status).toBe(200);
    expect(calls.map(({ method }) => method)).toEqual(['revokeLeakedKey']);
    expect(await revokedIn(service)).toEqual(['admin', 'revoked']);
  });

  test('works from the very next request on, for reading and recording', async () => {
    const service = await startService();
    const { send, keys } = service;
    const record = { method: 'POST', path: QUERIES, headers: json, body: '{"id":"a","caller":"web"}' };
    expect((await send()).status).toBe(200);
    expect((await send({ ...record, key: keys.recording })).status).toBe(200);
    await reportTo(service, { key: keys.recording });
    const refused = await send({ ...record, key: keys.recording });
    expect([refused.status, errorOf(refused)]).toEqual([401, 'The API key is revoked.']);
    expect((await send({ path: STATS })).status, 'other keys live on').toBe(200);
    await reportTo(service, { key: keys.admin });
    expect((await send({ path: STATS })).status).toBe(401);
  });

  test('by the key itself is taken, and is its last', async () => {
    const service = await startService();
    const { send, keys } = service;
    const body = JSON.stringify({ key: keys.admin });
    expect((await send({ method: 'POST', path, headers: json, body })).status).toBe(200);
    expect((await send()).status).toBe(401);
  });

  test('many at once of one key are one entry', async () => {
    const service = await startService();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => reportTo(service, { key: service.keys.admin })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await reportsIn(service, 'default')).toHaveLength(1);
  });

  test('that the store cannot take now: 503, to be sent again', async () => {
    const service = await startService();
    await service.store.close();
    expect((await reportTo(service, { key: service.keys.admin })).status).toBe(503);
    expect((await reportTo(service, { key: 'garbage' })).status, 'for which it is not needed').toBe(200);
  });
});
