import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import {
  detailsOf,
  errorOf,
  QUERIES,
  sharedService,
  startMs,
  startService,
} from '../../support/http/http.js';

const NO_QUERY = 'is not a query: send an object with id, caller and, optionally, occurredAt';
const BAD_CALLER = 'caller: is not "web", "api" or a name of 1 to 64 of a-z 0-9 . _ - (^[a-z0-9._-]{1,64}$)';
const NO_CALLER = 'caller: is missing; send "web", "api", or the name of an integration or SDK';
const ARRAY_LINE = 'is an array; put each of its items on a line, or send one array as application/json';
const FULL = 'send it in full, as 2026-01-31T23:59:59Z';

const good = { id: 'good', caller: 'web' };
const withId = (id: unknown) => ({ id, caller: 'web' });
const withTime = (occurredAt: unknown) => ({ ...good, occurredAt });
const field = (name: string, hint: string) => `${JSON.stringify(name)}: is not a field here; ${hint}`;
const FIELDS = 'there are id, caller, occurredAt';

/** Invalid queries and their problems. The unit tests have more. */
const BAD_QUERIES: [what: string, query: unknown, problems: string[]][] = [
  ['null', null, [NO_QUERY]],
  ['an array in the array', [good], [NO_QUERY]],
  ['an empty object', {}, ['id: is missing', NO_CALLER]],
  ['a number as id', withId(1), ['id: is not a string']],
  ['an id of 129', withId('x'.repeat(129)), ['id: is longer than 128 characters']],
  ['a NUL in the id', withId('a\0b'), ['id: has a NUL character or half a surrogate pair']],
  ['an array as caller', { id: 'a', caller: ['web'] }, ['caller: is not a string']],
  [
    'no offset',
    withTime('2026-01-31T12:00:00'),
    [`occurredAt: "2026-01-31T12:00:00" has no offset; ${FULL}`],
  ],
  [
    'a day and a millisecond ahead',
    withTime(new Date(startMs + dayMs + 1).toISOString()),
    ["occurredAt: lies more than a day ahead of the server's clock"],
  ],
  ['a misspelled field', { ...good, occuredAt: 'x' }, [field('occuredAt', 'did you mean occurredAt?')]],
  [
    'a problem in every field',
    { id: 1, caller: 'A', occurredAt: 'x', user: 'u' },
    [
      'id: is not a string',
      BAD_CALLER,
      `occurredAt: "x" is not a date-time of RFC 3339; ${FULL}`,
      field('user', FIELDS),
    ],
  ],
];

describe('an invalid query returns 400, and the valid ones beside it are not recorded:', () => {
  const service = sharedService();
  test.each(BAD_QUERIES)('%s', async (_what, query, problems) => {
    const { send, record, store } = service();
    const answer = await record([good, query, { ...good, id: 'last' }]);
    const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`;
    const first = `Nothing was recorded: queries[1]: ${problems[0]}${more}.`.replace('?.', '?');
    expect([answer.status, errorOf(answer)]).toEqual([400, first]);
    expect(detailsOf(answer)).toEqual(problems.map((problem) => `queries[1]: ${problem}`));

    const line = JSON.stringify(query);
    const lines = await record(`${JSON.stringify(good)}\n${line}\n`, {
      'content-type': 'application/x-ndjson',
    });
    const arrayLine = [`queries[1]: ${ARRAY_LINE}`];
    expect([lines.status, detailsOf(lines)]).toEqual([
      400,
      Array.isArray(query) ? arrayLine : detailsOf(answer),
    ]);
    if (!Array.isArray(query))
      expect(detailsOf(await record(line))).toEqual(problems.map((problem) => `queries[0]: ${problem}`));

    expect((await send()).text).toBe('{"web":0,"api":0,"other":0,"total":0}');
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('a field named __proto__', async () => {
    const answer = await service().record(
      '{"id":"a","caller":"web","__proto__":{"occurredAt":"2026-01-31T12:00:00Z"}}',
    );
    expect([answer.status, detailsOf(answer)]).toEqual([400, [`queries[0]: ${field('__proto__', FIELDS)}`]]);
  });

  test('a query of too many fields, before it is parsed', async () => {
    const fields = Array.from({ length: 500 }, (_, n) => `"f${n}":0`);
    const problem = 'has a value with more than 1000 brackets, commas and colons';
    const body = `{"id":"a","caller":"web",${fields.join()}}`;
    for (const sent of [body, `[${body}]`, `[${JSON.stringify(good)},${body}]`])
      expect(errorOf(await service().record(sent))).toBe(`The body ${problem}.`);
    const lines = await service().record(`${JSON.stringify(good)}\n${body}`, {
      'content-type': 'application/x-ndjson',
    });
    expect(detailsOf(lines)).toEqual([
      'queries[1]: has more than 1000 brackets, commas and colons; send less at a time',
    ]);
  });

  test('several invalid queries, each of which is named', async () => {
    const answer = await service().record([withId(''), good, { id: 'a', caller: '' }, good, 0]);
    expect(errorOf(answer)).toBe('Nothing was recorded: queries[0]: id: is empty (and 2 more).');
    expect(detailsOf(answer)).toEqual([
      'queries[0]: id: is empty',
      `queries[2]: ${BAD_CALLER}`,
      `queries[4]: ${NO_QUERY}`,
    ]);
  });

  test('more problems than the response names, which says how many are left out', async () => {
    const short = await service().record(
      Array.from({ length: 3_000 }, () => ({ id: '', caller: 'web', x: 1 })),
    );
    expect(errorOf(short)).toBe('Nothing was recorded: queries[0]: id: is empty (and 5999 more).');
    expect(detailsOf(short)).toHaveLength(1_001);
    expect(detailsOf(short).at(-1)).toBe('and 5000 more problems');

    const long = await service().record(
      Array.from({ length: 3_000 }, () => ({ ...good, occurredAt: '\0'.repeat(40) })),
    );
    expect(long.text.length).toBeLessThan(400_000);
    expect(detailsOf(long).at(-1)).toBe(`and ${3_000 - (detailsOf(long).length - 1)} more problems`);
  });
});

const utf8 = (text: string) => Buffer.from(text);
const bomb = gzipSync(Buffer.alloc(5_000, ' '));
const gzipped = gzipSync(JSON.stringify(good));

const JSON_TYPE = { 'content-type': 'application/json' };
const LINES = { 'content-type': 'application/x-ndjson' };
const GZIP = { ...JSON_TYPE, 'content-encoding': 'gzip' };
const TYPES = 'The Content-Type is not supported; send application/json or application/x-ndjson.';
const ENCODINGS = 'The Content-Encoding is not supported; send gzip, or none.';
const TOO_LARGE = 'The body is too large; send less at a time.';
const DECODED = 'The body has more than 1000 bytes once decoded; send fewer queries at a time.';
const NOT_GZIP = 'The body is not valid gzip, though its Content-Encoding says so.';
const THREE = 'The body has more than 3 queries; send fewer at a time.';
const four = [1, 2, 3, 4].map((n) => JSON.stringify(withId(`${n}`)));

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0]);
const ZIP = Buffer.from('PK\x03\x04\x14\0\0\0\x08\0');
const NO_ENCODING =
  'The body is compressed with gzip, but its headers do not say so; send Content-Encoding: gzip.';
const TWICE = 'The body is compressed twice; compress it once.';
const NO_ZSTD = 'The body is compressed with zstd, which this path does not take; send it uncompressed';
const isZip = (type: string) => `The body is a zip archive, but its Content-Type says ${type}; send that.`;
const secondValue = (kind: string, line?: number) =>
  `The body has a second ${kind} behind the first value${line === undefined ? '' : `, on line ${line}`}; ` +
  'JSON is one value, such as one array.';

/** Invalid bodies, if at most 3 queries and 1,000 bytes are allowed. */
const BAD_BODIES: [
  what: string,
  headers: Record<string, string>,
  body: Uint8Array,
  status: number,
  error: string,
][] = [
  ['broken JSON', JSON_TYPE, utf8('{"id":'), 400, 'The body is not JSON: "{\\"id\\":".'],
  ['characters after the JSON', JSON_TYPE, utf8('[] x'), 400, 'The body is not JSON: "[] x".'],
  ['a bracket after the JSON', JSON_TYPE, utf8('[]]'), 400, 'The body is not JSON: "[]]".'],
  ['two arrays', JSON_TYPE, utf8('[] []'), 400, secondValue('array')],
  ['arrays on lines, sent as JSON', JSON_TYPE, utf8('[1]\r\n[2]\n'), 400, secondValue('array', 2)],
  ['an object behind a number', JSON_TYPE, utf8('\n1\n\n{'), 400, secondValue('object', 4)],
  ['objects of several lines', JSON_TYPE, utf8('{\n}\n{\n}'), 400, secondValue('object', 3)],
  ['arrays on lines in gzip', GZIP, gzipSync('[1]\n[2]'), 400, secondValue('array', 2)],
  ['gzip without its encoding', JSON_TYPE, gzipped, 400, NO_ENCODING],
  ['lines in gzip without its encoding', LINES, gzipped, 400, NO_ENCODING],
  ['gzip as identity', { ...JSON_TYPE, 'content-encoding': 'identity' }, gzipped, 400, NO_ENCODING],
  ['gzip twice under one name', GZIP, gzipSync(gzipped), 400, TWICE],
  ['zstd in gzip', { ...LINES, ...GZIP }, gzipSync(ZSTD), 400, TWICE],
  ['zstd without its encoding', LINES, ZSTD, 400, `${NO_ZSTD} or with Content-Encoding: gzip.`],
  ['a zip archive', JSON_TYPE, ZIP, 400, isZip('application/json')],
  ['a zip archive as lines', LINES, ZIP, 400, isZip('application/x-ndjson')],
  ['brotli, which nothing tells', JSON_TYPE, brotliCompressSync('[]'), 400, 'The body is not valid UTF-8.'],
  ['lines without objects, sent as JSON', JSON_TYPE, utf8('1\n2'), 400, 'The body is not JSON: "1\\n2".'],
  ['four lines, sent as JSON', JSON_TYPE, utf8(four.join('\n')), 413, THREE],
  ['an empty body', JSON_TYPE, utf8(''), 400, 'The body is not JSON: "".'],
  ['white space', JSON_TYPE, utf8(' \n'), 400, 'The body is not JSON: "".'],
  ['only a byte order mark', JSON_TYPE, utf8('\ufeff'), 400, 'The body is not JSON: "".'],
  ['UTF-16', JSON_TYPE, Buffer.from('\ufeff[]', 'utf16le'), 400, 'The body is not valid UTF-8.'],
  [
    'Latin-1',
    JSON_TYPE,
    Buffer.from('{"id":"é","caller":"web"}', 'latin1'),
    400,
    'The body is not valid UTF-8.',
  ],
  ['part of a character', JSON_TYPE, utf8('["é').subarray(0, 3), 400, 'The body is not valid UTF-8.'],
  [
    'an overlong encoding',
    JSON_TYPE,
    Buffer.from([0x22, 0xc0, 0xaf, 0x22]),
    400,
    'The body is not valid UTF-8.',
  ],
  [
    'a surrogate as UTF-8',
    JSON_TYPE,
    Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    400,
    'The body is not valid UTF-8.',
  ],
  ['no gzip', GZIP, utf8('[]'), 400, NOT_GZIP],
  ['cut gzip', GZIP, gzipped.subarray(0, -9), 400, NOT_GZIP],
  ['gzip without its last byte', GZIP, gzipped.subarray(0, -1), 400, NOT_GZIP],
  [
    'gzip with a wrong checksum',
    GZIP,
    Buffer.concat([gzipped.subarray(0, -8), Buffer.alloc(8)]),
    400,
    NOT_GZIP,
  ],
  ['empty gzip', GZIP, utf8(''), 400, NOT_GZIP],
  ['broken JSON in gzip', GZIP, gzipSync('{'), 400, 'The body is not JSON: "{".'],
  ['1,001 bytes', JSON_TYPE, Buffer.alloc(1001, ' '), 413, TOO_LARGE],
  ['1,001 bytes of lines', LINES, Buffer.alloc(1001, '\n'), 413, TOO_LARGE],
  ['a gzip bomb', GZIP, bomb, 413, DECODED],
  ['a gzip bomb of lines', { ...GZIP, ...LINES }, bomb, 413, DECODED],
  ['four queries', JSON_TYPE, utf8(`[${four.join()}]`), 413, THREE],
  ['four lines', LINES, utf8(four.join('\n')), 413, THREE],
  ['four invalid queries', JSON_TYPE, utf8('[1,2,3,4]'), 413, THREE],
  ['a missing type', {}, utf8('[]'), 415, TYPES],
  ['an empty type', { 'content-type': '' }, utf8('[]'), 415, TYPES],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, utf8('id=a'), 415, TYPES],
  ['text', { 'content-type': 'text/plain' }, utf8('[]'), 415, TYPES],
  ['a type that begins like JSON', { 'content-type': 'application/jsonx' }, utf8('[]'), 415, TYPES],
  ['two types', { 'content-type': 'application/json, text/plain' }, utf8('[]'), 415, TYPES],
  ['a malformed type', { 'content-type': ';' }, utf8('[]'), 415, TYPES],
  ['deflate', { ...JSON_TYPE, 'content-encoding': 'deflate' }, utf8('[]'), 415, ENCODINGS],
  ['gzip twice', { ...JSON_TYPE, 'content-encoding': 'gzip, gzip' }, gzipSync(gzipped), 415, ENCODINGS],
];

describe('an invalid body is rejected:', () => {
  const service = sharedService({ limits: { batchQueriesMax: 3, bodyBytesMax: 1000 } });
  test.each(BAD_BODIES)('%s', async (_what, headers, body, status, error) => {
    const { send, store } = service();
    const answer = await send({ method: 'POST', path: QUERIES, headers, body });
    expect([answer.status, errorOf(answer), detailsOf(answer)]).toEqual([status, error, []]);
    expect(answer.headers['accept-encoding']).toBe(error === ENCODINGS ? 'gzip' : undefined);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('invalid lines of NDJSON, named by their index without blank lines', async () => {
    const { record, store } = service();
    const lines = Buffer.concat([
      utf8(`\n${JSON.stringify(good)}\r\n \t\r\n{"id"\n`),
      Buffer.from([0x22, 0xff, 0x22]),
    ]);
    const answer = await record(lines, LINES);
    expect(answer.status).toBe(400);
    expect(detailsOf(answer)).toEqual([
      'queries[1]: is not JSON: "{\\"id\\""',
      'queries[2]: is not valid UTF-8',
    ]);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('lines that are arrays', async () => {
    const { record, store } = service();
    const answer = await record(utf8(`[${JSON.stringify(good)}]\n[]`), LINES);
    expect([answer.status, detailsOf(answer)]).toEqual([
      400,
      [`queries[0]: ${ARRAY_LINE}`, `queries[1]: ${ARRAY_LINE}`],
    ]);
    expect((await store.maintenance.verify()).queries).toBe(0);
  });

  test('NDJSON sent as JSON: the answer is that of NDJSON', async () => {
    const { record, store } = service();
    for (const text of ['{}\n{}', `${JSON.stringify(good)}\n{"id"`, `\n${JSON.stringify(good)}\n\n[]`]) {
      const lines = await record(utf8(text), LINES);
      expect([lines.status, detailsOf(lines).length > 0]).toEqual([400, true]);
      const json = await record(utf8(text), { 'content-type': 'application/json; charset=utf-8' });
      expect([json.status, json.text]).toEqual([lines.status, lines.text]);
    }
    expect((await store.maintenance.verify()).queries).toBe(0);
    const two = `\ufeff${JSON.stringify(good)}\r\n${JSON.stringify(withId('other'))}\n`;
    expect((await record(utf8(two), JSON_TYPE)).text).toBe('{"recorded":2,"duplicates":0}');
    expect((await record(gzipSync(two), GZIP)).text).toBe('{"recorded":0,"duplicates":2}');
  });
});

test('a body that is not what its headers say is refused on other paths, too', async () => {
  const { send, keys } = await startService();
  const answers = async (path: string, headers: Record<string, string>, body: Uint8Array) =>
    errorOf(
      await send({
        method: 'POST',
        path: `/v1/analytics/docs/assistant/${path}`,
        key: keys.admin,
        headers,
        body,
      }),
    );
  expect(await answers('imported-counts', LINES, gzipped)).toBe(NO_ENCODING);
  expect(await answers('imported-counts', JSON_TYPE, utf8('[]\n[]'))).toBe(secondValue('array', 2));
  expect(await answers('corrections', JSON_TYPE, gzipped)).toBe(
    'The body is compressed with gzip, which this path does not take; send it uncompressed.',
  );
  expect(await answers('corrections', JSON_TYPE, utf8('{}\n{}'))).toBe(secondValue('object', 2));
});

test.each(['application/ndjson', 'application/jsonl', 'application/x-jsonlines'])(
  'lines of type %s, and gzip under its other name, are read',
  async (type) => {
    const { send, keys } = await startService();
    const body = gzipSync(['a', 'b'].map((id) => JSON.stringify({ id, caller: 'web' })).join('\n'));
    const headers = { 'content-type': type, 'content-encoding': 'x-gzip' };
    const answer = await send({ method: 'POST', path: QUERIES, key: keys.recording, headers, body });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { recorded: 2, duplicates: 0 }]);
  },
);
