/** Edge cases of JSON in recording requests: what is refused and why, what is accepted and with which ids. */
import { describe, expect, test } from 'vitest';
import { bodyBytesMax } from '../../src/domain/limits.js';
import { OWN_ORIGIN } from '../support/http/dashboard.js';
import { detailsOf, errorOf, STATS, sharedService } from '../support/http/http.js';
import { words } from '../support/words.js';
import { INVALID_JSON, INVALID_UTF8 } from './json-text.js';

const query = (id: string): string => `{"id":${id},"caller":"web"}`;
const MISSING_FIELDS =
  'id: is missing\ncaller: is missing; send "web", "api", or the name of an integration or SDK\n"a": is not a field here; did you mean id?';
const NO_QUERY = 'is not a query: send an object with id, caller and, optionally, occurredAt';
const HALF = 'id: has a NUL character or half a surrogate pair';

describe('a body that is not JSON is refused', () => {
  const service = sharedService();
  test.each(INVALID_JSON.map((body) => [body.slice(0, 40), body] as const))('%j', async (_shown, body) => {
    const { record, store } = service();
    const answer = await record(body);
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(
        /^The body (is not JSON: ".*|is nested more than 64 levels deep|has a second .*)\.$/s,
      ),
    ]);
    expect(detailsOf(answer)).toEqual([]);
    // As a line of NDJSON it is refused with its index, unless it is blank or contains a line end.
    if (body.trim() !== '' && !/[\n\r]/.test(body)) {
      const lines = await record(`${query('"a"')}\n${body}`, { 'content-type': 'application/x-ndjson' });
      expect([lines.status, detailsOf(lines)]).toEqual([
        400,
        [expect.stringMatching(/^queries\[1\]: (is not JSON: |is nested more than|has )/)],
      ]);
    }
    expect((await store.maintenance.verify()).queries).toBe(0);
  });
});

describe('JSON with a string that is not UTF-8 is refused', () => {
  const service = sharedService();
  test.each(INVALID_UTF8.map((bytes) => [bytes.toString('hex'), bytes] as const))(
    '%s',
    async (_hex, bytes) => {
      const { record, store } = service();
      const [before = '', after = ''] = query('"a-b"').split('-');
      const body = Buffer.concat([Buffer.from(before), bytes, Buffer.from(after)]);
      const answer = await record(body);
      expect([answer.status, errorOf(answer)]).toEqual([400, 'The body is not valid UTF-8.']);
      const lines = await record(body, { 'content-type': 'application/x-ndjson' });
      expect(detailsOf(lines)).toEqual(['queries[0]: is not valid UTF-8']);
      expect((await store.maintenance.verify()).queries).toBe(0);
    },
  );
});

const deep = (open: string, close: string, levels: number): string =>
  open.repeat(levels) + close.repeat(levels);

/** JSON that is not a query, and the problem that the response reports. */
const INVALID_QUERIES: readonly (readonly [what: string, body: string, problem: string])[] = [
  ...words(`
    null true 0 -0 1e400 -1e400 1e-400 123456789012345678901234567890 0.1e-1 1E+2 "web" ""
  `).map((body) => [body, body, NO_QUERY] as const),
  ['arrays with as many levels as are allowed', deep('[', ']', 64), NO_QUERY],
  ['objects with 50 levels', `${deep('{"a":', '', 50)}1${'}'.repeat(50)}`, MISSING_FIELDS],
  ...words('1 1e400 -0 true null [] {} ["a"]').map(
    (id) => [`${id} as id`, query(id), 'id: is not a string'] as const,
  ),
  ...words(String.raw`
    "\ud800" "\udfff" "\udc00\ud800" "a\ud83d" "\ud83d\u0041" "\ud83d\ud83d\ude00" "\u0000" "a\u0000b"
  `).map((id) => [`${id} as id`, query(id), HALF] as const),
  ['an id of a megabyte', query(`"${'x'.repeat(1_000_000)}"`), 'id: is longer than 128 characters'],
  ['a megabyte of escapes', query(`"${'\\u0061'.repeat(170_000)}"`), 'id: is longer than 128 characters'],
  ['two ids, the last a number', '{"id":"a","id":1,"caller":"web"}', 'id: is not a string'],
  [
    'a field with NUL in its name',
    '{"id":"a","caller":"web","id\\u0000":"b"}',
    '"id\\u0000": is not a field here; did you mean id?',
  ],
];

describe('JSON that is not a query is refused', () => {
  const service = sharedService();
  test.each(INVALID_QUERIES)('%s', async (_what, body, problem) => {
    const { record, store } = service();
    const answer = await record(body);
    const details = problem.split('\n').map((one) => `queries[0]: ${one}`);
    expect([answer.status, detailsOf(answer)]).toEqual([400, details]);
    expect(answer.text.length).toBeLessThan(1000);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('with too many levels, not counting brackets in strings', async () => {
    const { record } = service();
    for (const levels of [65, 32_000, 1_000_000]) {
      const answer = await record(deep('[', ']', levels));
      expect([answer.status, errorOf(answer)]).toEqual([400, 'The body is nested more than 64 levels deep.']);
      if (levels > 32_000) continue;
      const lines = await record(`${query('"a"')}\n${deep('{"a":[', ']}', levels)}`, {
        'content-type': 'application/x-ndjson',
      });
      expect([lines.status, detailsOf(lines)]).toEqual([
        400,
        [expect.stringMatching(/^queries\[1\]: is (nested more than 64 levels deep|longer than)/)],
      ]);
    }
    const brackets = query(`"${'['.repeat(128)}"`);
    const spaces = ' '.repeat(1_000_000);
    expect((await record(brackets + spaces)).text).toBe('{"recorded":1,"duplicates":0}');
  });
});

/** Fields that would change every object, if they were copied into one. */
const POLLUTING = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';

describe('fields with names of properties that every object has change nothing', () => {
  const service = sharedService();
  test.each([
    ...['queries', 'imported-counts', 'corrections'].map((name) => `/v1/analytics/docs/assistant/${name}`),
    ...['/v1/traces', '/v1/logs', '/v1/metrics', '/mcp', '/oauth/register', '/oauth/token'],
    ...['/api/sign-in', '/api/set-up', '/api/invitations/accept'],
  ])('%s', async (path) => {
    const { send } = service();
    const headers = { ...OWN_ORIGIN, 'content-type': 'application/json', 'caller-stats-project': 'docs' };
    for (const body of [POLLUTING, `[${POLLUTING}]`, `{"resourceSpans":[${POLLUTING}]}`]) {
      const { status } = await send({ method: 'POST', path, headers, body });
      expect([200, 400]).toContain(status);
      expect('polluted' in {}).toBe(false);
    }
  });

  test('a parameter', async () => {
    const { send } = service();
    for (const name of ['__proto__[polluted]', '__proto__.polluted', 'constructor[prototype][polluted]']) {
      const { status } = await send({ path: `${STATS}?${encodeURIComponent(name)}=1` });
      expect([status, 'polluted' in {}]).toEqual([400, false]);
    }
  });
});

/** Valid bodies, with the ids that they record. */
const VALID: readonly (readonly [what: string, body: string, ids: readonly string[]])[] = [
  ['white space of all kinds', ` \t\r\n[ \n${query(' "w1" ')}\t,\r${query('"w2"')} ] \n`, ['w1', 'w2']],
  ['escapes in names', '{"\\u0069d":"names","c\\u0061ll\\u0065r":"web"}', ['names']],
  ['every kind of escape', query('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u00E9"'), ['"\\/\b\f\n\r\téé']],
  ['an escaped surrogate pair', query('"\\ud83d\\uDE00"'), ['😀']],
  ['escaped control characters', query('"\\u0001\\u001f\\u007f"'), ['\u0001\u001f\u007f']],
  ['line separators', query('"a\u2028\u2029b"'), ['a\u2028\u2029b']],
  ['noncharacters', query('"\uffff\ufffe\u{10ffff}"'), ['\uffff\ufffe\u{10ffff}']],
  ['a byte order mark in an id', query('"\ufeffm"'), ['\ufeffm']],
  [
    'names of properties that every object has',
    `[${query('"__proto__"')},${query('"constructor"')}]`,
    ['__proto__', 'constructor'],
  ],
  [
    'a repeated field, of which the last counts',
    '{"id":1,"id":"first","caller":"api","id":"last","caller":"web"}',
    ['last'],
  ],
  ['megabytes of white space', `[${' '.repeat(bodyBytesMax - 100)}${query('"far"')}]`, ['far']],
];

describe('accepts', () => {
  const service = sharedService();
  test.each(VALID)('%s', async (_what, body, ids) => {
    const { record, store } = service();
    const before = (await store.maintenance.verify()).queries;
    expect((await record(body)).text).toBe(`{"recorded":${ids.length},"duplicates":0}`);
    expect((await store.maintenance.verify()).queries).toBe(before + ids.length);
    const again = ids.map((id) => ({ id, caller: 'web' }));
    expect((await record(again)).text).toBe(`{"recorded":0,"duplicates":${ids.length}}`);
  });

  test('property names of objects as callers', async () => {
    const { record, send } = service();
    const callers = ['__proto__', 'constructor', 'tostring', '-', '.', '0'];
    const answer = await record(callers.map((caller) => ({ id: `of ${caller}`, caller })));
    expect(answer.text).toBe(`{"recorded":${callers.length},"duplicates":0}`);
    const { text } = await send({ path: '/v1/analytics/docs/assistant/callers' });
    for (const caller of callers) expect(text).toContain(`{"caller":"${caller}","type":"other","count":1}`);
  });
});
