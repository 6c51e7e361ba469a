/** The edges of JSON, after the kinds of the JSONTestSuite: what is taken, and as which ids; what is refused, and how. */
import { describe, expect, test } from 'vitest';
import { bodyBytesMax, jsonLevelsCountedBytesMin } from '../../src/domain/limits.js';
import { detailsOf, errorOf, sharedService } from '../support/http.js';

const utf8 = (text: string): Buffer => Buffer.from(text);
const query = (id: string): string => `{"id":${id},"caller":"web"}`;
const NOTHING_IN_IT =
  'id: is missing; caller: is missing; send "web", "api", or the name of an integration or SDK; "a": is not a field here; did you mean id?';
const NO_QUERY = 'is not a query: send an object with id, caller and, optionally, occurredAt';
const HALF = 'id: has a NUL character or half a surrogate pair';

/** Bodies that hold no JSON at all. */
const NO_JSON: readonly string[] = [
  '',
  ' ',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[1 2]',
  '[',
  ']',
  '[1',
  '[1}',
  '{',
  '}',
  '{"id"',
  '{"id":',
  '{"id":"a"',
  '{"id":"a",}',
  '{,}',
  '{"id" "a"}',
  '{"id"::"a"}',
  "{'id':'a'}",
  '{id:"a"}',
  '{1:1}',
  '{null:1}',
  '{"id":"a" "caller":"web"}',
  '{"id":"a"}}',
  '{}{}',
  '[][]',
  '{"id":"a"}#',
  '[]\0',
  '\0',
  'nul',
  'nulll',
  'True',
  'TRUE',
  'undefined',
  'NaN',
  '-NaN',
  'Infinity',
  '-Infinity',
  '-',
  '--1',
  '+1',
  '01',
  '-01',
  '1.',
  '.5',
  '-.5',
  '1e',
  '1e+',
  '1E-',
  '0x1',
  '0b1',
  '1_000',
  '1,000',
  '１',
  '"a',
  '"',
  '"\\',
  '"\\"',
  '"\\x41"',
  '"\\a"',
  '"\\u"',
  '"\\u12"',
  '"\\u12g4"',
  '"\\U0041"',
  '"\\ "',
  '"\t"',
  '"\n"',
  '"\r"',
  '"\0"',
  '"\x1f"',
  '// a\n[]',
  '[] // a',
  '/* a */ []',
  '[/**/]',
  '# a\n[]',
  '\u00a0[]',
  '\u2028[]',
  '\u3000[]',
  '\ufeff\ufeff[]',
  '[\ufeff]',
  '[]\ufeff',
  '\v[]',
  '\f[]',
  '[undefined]',
  '[new Date()]',
  '[1n]',
  '`a`',
  '“a”',
  '<a/>',
  'a=b',
  '---\n- a',
  '(1)',
  '[1;2]',
  '[...[]]',
  `${'['.repeat(5000)}`,
  `${'{"a":'.repeat(5000)}`,
  `[${'"a",'.repeat(1000)}]`,
];

describe('what is no JSON is refused', () => {
  const service = sharedService();
  test.each(NO_JSON.map((body) => [body.slice(0, 40), body] as const))('%j', async (_shown, body) => {
    const { record, store } = service();
    const answer = await record(body);
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.stringMatching(/^The body is not JSON: ".*\.$/s),
    ]);
    expect(detailsOf(answer)).toEqual([]);
    // As a line, what has no line end in it is refused by its index; a blank one is none.
    if (body.trim() !== '' && !/[\n\r]/.test(body)) {
      const lines = await record(`${query('"a"')}\n${body}`, { 'content-type': 'application/x-ndjson' });
      expect([lines.status, detailsOf(lines)]).toEqual([
        400,
        [expect.stringMatching(/^queries\[1\]: is not JSON: /)],
      ]);
    }
    expect((await store.verify()).queries).toBe(0);
  });
});

/** Bytes that are no UTF-8, inside a string of otherwise good JSON. */
const NO_UTF8: readonly (readonly number[])[] = [
  [0x80],
  [0xbf],
  [0xc0, 0x80],
  [0xc1, 0xbf],
  [0xc3],
  [0xe0, 0x80, 0x80],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xed, 0xbf, 0xbf],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf0, 0x9f, 0x98],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80, 0x80, 0x80],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xfe],
  [0xff],
];

describe('what is no UTF-8 is refused', () => {
  const service = sharedService();
  test.each(NO_UTF8.map((bytes) => [Buffer.from(bytes).toString('hex'), bytes] as const))(
    '%s',
    async (_hex, bytes) => {
      const { record, store } = service();
      const [before = '', after = ''] = query('"a-b"').split('-');
      const body = Buffer.concat([utf8(before), Buffer.from(bytes), utf8(after)]);
      const answer = await record(body);
      expect([answer.status, errorOf(answer)]).toEqual([400, 'The body is not valid UTF-8.']);
      const lines = await record(body, { 'content-type': 'application/x-ndjson' });
      expect(detailsOf(lines)).toEqual(['queries[0]: is not valid UTF-8']);
      expect((await store.verify()).queries).toBe(0);
    },
  );
});

const deep = (open: string, close: string, levels: number): string =>
  open.repeat(levels) + close.repeat(levels);
const below1MiB = Math.floor(jsonLevelsCountedBytesMin / 2) - 10;

/** JSON that is no query, with what is wrong with it. */
const NO_QUERIES: readonly (readonly [what: string, body: string, problem: string])[] = [
  ...[
    'null',
    'true',
    '0',
    '-0',
    '1e400',
    '-1e400',
    '1e-400',
    '123456789012345678901234567890',
    '0.1e-1',
    '1E+2',
    '"web"',
    '""',
  ].map((body) => [body, body, NO_QUERY] as const),
  ['an array in an array', '[[]]', NO_QUERY],
  ['arrays as deep as are not counted', deep('[', ']', below1MiB), NO_QUERY],
  ['objects as deep', `${deep('{"a":', '', 100_000)}1${'}'.repeat(100_000)}`, NOTHING_IN_IT],
  ...['1', '1e400', '-0', 'true', 'null', '[]', '{}', '["a"]'].map(
    (id) => [`${id} as id`, query(id), 'id: is not a string'] as const,
  ),
  ...[
    '"\\ud800"',
    '"\\udfff"',
    '"\\udc00\\ud800"',
    '"a\\ud83d"',
    '"\\ud83d\\u0041"',
    '"\\ud83d\\ud83d\\ude00"',
    '"\\u0000"',
    '"a\\u0000b"',
  ].map((id) => [`${id} as id`, query(id), HALF] as const),
  ['an id of a megabyte', query(`"${'x'.repeat(1_000_000)}"`), 'id: is longer than 128 characters'],
  ['a megabyte of escapes', query(`"${'\\u0061'.repeat(170_000)}"`), 'id: is longer than 128 characters'],
  ['an id that is empty', query('""'), 'id: is empty'],
  ['the last of two ids is a number', '{"id":"a","id":1,"caller":"web"}', 'id: is not a string'],
  [
    'a field whose name has a NUL',
    '{"id":"a","caller":"web","id\\u0000":"b"}',
    '"id\\u0000": is not a field here; did you mean id?',
  ],
];

describe('JSON that is no query is refused', () => {
  const service = sharedService();
  test.each(NO_QUERIES)('%s', async (_what, body, problem) => {
    const { record, store } = service();
    const answer = await record(body);
    expect([answer.status, detailsOf(answer)]).toEqual([400, [`queries[0]: ${problem}`]]);
    expect(answer.text.length).toBeLessThan(1000);
    expect((await store.verify()).queries).toBe(0);
  });

  test('levels are counted in what is long, and not those in strings', async () => {
    const { record } = service();
    const answer = await record(deep('[', ']', below1MiB + 20));
    expect([answer.status, errorOf(answer)]).toEqual([400, 'The body is nested more than 64 levels deep.']);
    const brackets = query(`"${'['.repeat(128)}"`);
    const spaces = ' '.repeat(jsonLevelsCountedBytesMin);
    expect((await record(brackets + spaces)).text).toBe('{"recorded":1,"duplicates":0}');
  });
});

/** Bodies that are taken, with the ids that they record. */
const TAKEN: readonly (readonly [what: string, body: string, ids: readonly string[]])[] = [
  ['nothing', '[]', []],
  ['white space of all kinds', ` \t\r\n[ \n${query(' "w1" ')}\t,\r${query('"w2"')} ] \n`, ['w1', 'w2']],
  ['a byte order mark', `\ufeff${query('"mark"')}`, ['mark']],
  ['escapes in names', '{"\\u0069d":"names","c\\u0061ll\\u0065r":"web"}', ['names']],
  ['escapes of all kinds', query('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u00E9"'), ['"\\/\b\f\n\r\téé']],
  ['a pair that is escaped', query('"\\ud83d\\uDE00"'), ['😀']],
  ['control characters, escaped', query('"\\u0001\\u001f\\u007f"'), ['\u0001\u001f\u007f']],
  ['line separators', query('"a\u2028\u2029b"'), ['a\u2028\u2029b']],
  ['characters that are none', query('"\uffff\ufffe\u{10ffff}"'), ['\uffff\ufffe\u{10ffff}']],
  ['a mark inside', query('"\ufeffm"'), ['\ufeffm']],
  ['one letter in two spellings', `[${query('"\u00e9"')},${query('"e\u0301"')}]`, ['\u00e9', 'e\u0301']],
  [
    'names that objects have of themselves',
    `[${query('"__proto__"')},${query('"constructor"')}]`,
    ['__proto__', 'constructor'],
  ],
  [
    'of a field that is there twice, the last',
    '{"id":1,"id":"first","caller":"api","id":"last","caller":"web"}',
    ['last'],
  ],
  ['128 characters of two units', query(`"${'😀'.repeat(128)}"`), ['😀'.repeat(128)]],
  ['megabytes of white space', `[${' '.repeat(bodyBytesMax - 100)}${query('"far"')}]`, ['far']],
];

describe('what is taken, is taken as what it says', () => {
  const service = sharedService();
  test.each(TAKEN)('%s', async (_what, body, ids) => {
    const { record, store } = service();
    const before = (await store.verify()).queries;
    expect((await record(body)).text).toBe(`{"recorded":${ids.length},"duplicates":0}`);
    expect((await store.verify()).queries).toBe(before + ids.length);
    const again = ids.map((id) => ({ id, caller: 'web' }));
    expect((await record(again)).text).toBe(`{"recorded":0,"duplicates":${ids.length}}`);
  });

  test('as callers too', async () => {
    const { record, send } = service();
    const callers = ['__proto__', 'constructor', 'tostring', '-', '.', '0'];
    const answer = await record(callers.map((caller) => ({ id: `of ${caller}`, caller })));
    expect(answer.text).toBe(`{"recorded":${callers.length},"duplicates":0}`);
    const { text } = await send({ path: '/v1/analytics/docs/assistant/callers' });
    for (const caller of callers) expect(text).toContain(`{"caller":"${caller}","type":"other","count":1}`);
  });
});
