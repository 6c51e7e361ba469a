/** Invalid OTLP is refused with an explanation. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  otlpRecordBytesMax,
  otlpRecordLevelsMax,
  otlpRecordPartsMax,
  otlpTextBytesMax,
} from '../../../src/domain/limits.js';
import { HttpError } from '../../../src/http/server/errors.js';
import { bodyOf, JSON_TYPE, PROTOBUF, type Sent, traceId } from '../../support/http/telemetry.js';
import { bytes, message, read, readAll } from '../../support/http/telemetry-reading.js';

function refusal(readIt: () => unknown): string {
  try {
    readIt();
  } catch (error) {
    if (error instanceof HttpError && error.status === 400) return error.message;
    throw error;
  }
  return 'not refused';
}

const jsonOf = (body: unknown) => Buffer.from(JSON.stringify(body));
const spans = (...list: unknown[]) => ({ resourceSpans: [{ scopeSpans: [{ spans: list }] }] });

describe('JSON that cannot be split into records is refused with the position of the problem', () => {
  test.each<[body: unknown, problem: string]>([
    [[], 'it is not an object'],
    ['x', 'it is not an object'],
    [null, 'it is not an object'],
    [{ resourceSpans: {} }, 'resourceSpans is not an array'],
    [{ resourceSpans: [null] }, 'resourceSpans[0] is not an object'],
    [{ resourceSpans: [{}, { scopeSpans: 1 }] }, 'resourceSpans[1].scopeSpans is not an array'],
    [{ spans: [], tags: {} }, 'it has no resourceSpans, but spans, tags'],
    [{ resourceLogs: [] }, 'it has no resourceSpans, but resourceLogs'],
  ])('%j', (body, problem) => {
    expect(refusal(() => read('traces', JSON_TYPE, jsonOf(body)))).toBe(
      `The body is not JSON of OTLP: ${problem}.`,
    );
  });

  const listOf = (value: unknown) => JSON.stringify({ resourceSpans: value });
  const noList = 'resourceSpans is not an array';
  const tooLong = `a part of it is longer than ${otlpTextBytesMax} bytes`;
  test.each<[what: string, body: string, problem: string]>([
    ['a deep object as a list', listOf({ a: nestedList(otlpRecordLevelsMax) }), noList],
    ['an object with many parts as a list', listOf({ a: Array(otlpRecordPartsMax).fill(0) }), noList],
    ['a long text as a list', listOf('x'.repeat(otlpRecordBytesMax)), noList],
    ['a long word as a list', `{"resourceSpans":${'n'.repeat(otlpTextBytesMax + 1)}}`, tooLong],
    ['a long name', JSON.stringify({ ['x'.repeat(otlpTextBytesMax)]: 0 }), tooLong],
  ])('%s', (_what, body, problem) => {
    expect(refusal(() => read('traces', JSON_TYPE, Buffer.from(body)))).toBe(
      `The body is not JSON of OTLP: ${problem}.`,
    );
  });

  test.each([
    '',
    ' ',
    '{',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{} []',
    '{} }',
    '{"resourceSpans":[',
    '{"a":"\\',
    '{"a":1]',
    '{"resourceSpans":nil}',
  ])('what is no JSON: %s', (text) => {
    expect(refusal(() => read('traces', JSON_TYPE, Buffer.from(text)))).toMatch(/^The body is not JSON: /);
  });
});

describe('a message in the other encoding, or with another one behind it, is named', () => {
  const records = { resourceSpans: [{ scopeSpans: [{ spans: [{}] }] }] };
  test.each(['{} {}', '{}\n{', `${JSON.stringify(records)}\r\n${JSON.stringify(records)}\n`])(
    '%j',
    (text) => {
      const after = text.lastIndexOf('{', text.length / 2 + 1);
      for (const pieceBytes of [1, 3, 1 << 14])
        expect(refusal(() => readAll('traces', JSON_TYPE, Buffer.from(text), pieceBytes))).toBe(
          `The body is not JSON of OTLP: it has a second message after ${after} bytes; send each with a request, or the file with caller-stats import --format otlp.`,
        );
    },
  );

  test('JSON as protobuf', () => {
    expect(refusal(() => read('traces', PROTOBUF, jsonOf(records)))).toBe(
      'The body is not a protobuf message of OTLP: it begins like JSON; send Content-Type: application/json.',
    );
  });

  test('protobuf as JSON', () => {
    for (const span of [{ name: 'a' }, { name: 'a', attributes: { b: 'c' } }])
      expect(refusal(() => read('traces', JSON_TYPE, bodyOf('traces', PROTOBUF, [span])))).toBe(
        'The body is not JSON of OTLP: it begins like protobuf; send Content-Type: application/x-protobuf.',
      );
  });
});

describe('JSON with a list of a misspelt name is named, and costs no other', () => {
  const good = { scopeSpans: [{ spans: [{}] }] };
  test.each<[odd: object, problem: string]>([
    [{ scopespans: [] }, 'resourceSpans[1] has no scopeSpans, but scopespans'],
    [{ a: 1, ScopeSpans: [{}], b: [] }, 'resourceSpans[1] has no scopeSpans, but ScopeSpans, b'],
    [{ scopeSpans: [{ span: [{}] }] }, 'resourceSpans[1].scopeSpans[0] has no spans, but span'],
    [{ scopeLogs: [{}] }, 'resourceSpans[1] has no scopeSpans, but scopeLogs'],
  ])('%j', (odd, problem) => {
    const { records, problems } = readAll('traces', JSON_TYPE, jsonOf({ resourceSpans: [good, odd, good] }));
    expect([records.length, problems]).toEqual([2, [problem]]);
  });

  test.each<object>([
    {},
    { scopeSpans: [], more: [1] },
    { scopeSpans: null, more: [1] },
    { resource: {}, schemaUrl: 'a', more: { list: [1] } },
    { scopeSpans: [{ scope: {}, schemaUrl: 'a' }, {}] },
  ])('but not %j', (odd) => {
    const { problems } = readAll('traces', JSON_TYPE, jsonOf({ resourceSpans: [good, odd] }));
    expect(problems).toEqual([]);
  });
});

const spanWith = (...fields: [number, Uint8Array][]) =>
  message([1, message([2, message([2, message(...fields)])])]);

describe('protobuf that cannot be split into records is refused', () => {
  test.each<[what: string, body: Uint8Array]>([
    ['JSON', Buffer.from('{"resourceSpans":[]}')],
    ['a message that is cut', bytes(0x0a, 5, 0)],
    ['a length beyond 32 bits', bytes(0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f)],
    ['field 0', bytes(0x02, 0)],
    ['an end without a group', bytes(0x0c)],
    ['a field that is longer than its message', bytes(0x0a, 2, 0x12, 4, 0x12, 2, 0x4a, 0)],
    ['nested groups', new Uint8Array(100_000).fill(0x0b)],
    ['a number without end', new Uint8Array(100).fill(0xff)],
  ])('%s', (_what, body) => {
    expect(refusal(() => read('traces', PROTOBUF, body))).toMatch(
      /^The body is not a protobuf message of OTLP: .+\.$/,
    );
  });
});

/** Among good records, and what becomes of it: a problem, or the value of its attribute. */
describe('a record that is malformed costs no other', () => {
  const attribute = (value: unknown, key = 'a') => ({ attributes: [{ key, value }] });
  const noTime =
    'startTimeUnixNano is not a whole number of nanoseconds since 1970; send it as a string of digits';
  const good = attribute({ stringValue: 'good' });
  const goods = [new Map([['a', 'good']]), new Map([['a', 'good']])];

  test.each<[record: unknown, problem: string]>([
    [0, 'is not an object'],
    [null, 'is not an object'],
    [[], 'is not an object'],
    [{ traceId: 1 }, 'traceId is not a string'],
    [{ spanId: {} }, 'spanId is not a string'],
    [{ parentSpanId: 1234 }, 'parentSpanId is not a string'],
    [{ attributes: 'x' }, 'attributes is not an array'],
    [{ startTimeUnixNano: 'x' }, noTime],
    [{ startTimeUnixNano: -1 }, noTime],
    [{ startTimeUnixNano: '-1' }, noTime],
    [{ startTimeUnixNano: 1.5 }, noTime],
    [{ startTimeUnixNano: [] }, noTime],
    [{ startTimeUnixNano: String(2n ** 64n) }, noTime],
    [{ more: nestedList(otlpRecordLevelsMax + 1) }, `is nested more than ${otlpRecordLevelsMax} levels deep`],
    [
      { more: Array(otlpRecordPartsMax).fill(0) },
      `has more than ${otlpRecordPartsMax} brackets, commas and colons`,
    ],
    [{ more: 'x'.repeat(otlpRecordBytesMax) }, `is longer than ${otlpRecordBytesMax} bytes`],
  ])('in JSON', (record, problem) => {
    const { records, problems } = readAll('traces', JSON_TYPE, jsonOf(spans(good, record, good)));
    expect(problems).toEqual([problem]);
    expect(records.map(({ attributes }) => attributes)).toEqual(goods);
  });

  const goodSpan = message([9, message([1, Buffer.from('a')], [2, message([1, Buffer.from('good')])])]);
  test.each<[what: string, record: Uint8Array, problem: RegExp]>([
    ['a time that is cut', bytes(0x39, 1, 2), /./],
    ['nested groups', new Uint8Array(1000).fill(0x0b), /./],
    ['an attribute that is longer than it', bytes(0x4a, 9, 1), /./],
    [
      'too many fields',
      Buffer.alloc(2 * otlpRecordPartsMax + 2, bytes(0x78, 0)),
      /^has more than 100000 fields$/,
    ],
    ['too many bytes', new Uint8Array(otlpRecordBytesMax + 1), /^is longer than 16777216 bytes$/],
  ])('in protobuf: %s', (_what, record, problem) => {
    const body = message([1, message([2, message([2, goodSpan], [2, record], [2, goodSpan])])]);
    const { records, problems } = readAll('traces', PROTOBUF, body);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(records.map(({ attributes }) => attributes)).toEqual(goods);
  });

  test.each<[none: unknown]>([[{}], [[2]], [true], [{ toString: 1, valueOf: 1 }]])(
    'kinds and flags that are none, such as %j, count as 0',
    (none) => {
      const body = jsonOf(spans({ ...good, kind: none, flags: none }));
      const { records, problems } = readAll('traces', JSON_TYPE, body);
      expect(problems).toEqual([]);
      expect(records).toMatchObject([{ isEntry: false, attributes: goods[0] }]);
    },
  );

  test('a resource that is malformed costs its own records', () => {
    const scopeSpans = [{ spans: [good] }];
    const body = {
      resourceSpans: [{ resource: [], scopeSpans }, { scopeSpans }, { scopeSpans, resource: 1 }],
    };
    const { records, problems } = readAll('traces', JSON_TYPE, jsonOf(body));
    expect(records).toHaveLength(1);
    const problem = 'belongs to a resource that is not an object';
    expect(problems).toEqual([problem, problem]);
  });
});

describe('an attribute that is malformed has a value that no id and no caller can have', () => {
  const unreadable = { a: expect.stringMatching(/\ud800$/) as string };
  test.each<[value: unknown, expected: object]>([
    ['x', unreadable],
    [{ stringValue: 1 }, unreadable],
    [{ boolValue: 1 }, unreadable],
    [{ intValue: 1.5 }, unreadable],
    [{ intValue: 2 ** 53 }, unreadable],
    [{ doubleValue: 'x' }, unreadable],
    [{ doubleValue: 'Infinity' }, unreadable],
    [{ doubleValue: 'NaN' }, { a: 'NaN' }],
    [{ kvlistValue: { values: [] } }, unreadable],
    [{ bytesValue: 'AA==' }, unreadable],
    [{ arrayValue: { values: [{}, 1] } }, unreadable],
    [{ stringValue: 'x'.repeat(otlpTextBytesMax + 1) }, unreadable],
    [{ stringValue: '\ud83d' }, { a: '\ud83d' }],
    [{}, {}],
    [null, {}],
    [{ doubleValue: 12 }, { a: '12' }],
    [{ doubleValue: 1e21 }, { a: '1000000000000000000000' }],
    [{ intValue: '9007199254740993' }, { a: '9007199254740993' }],
  ])('in JSON: %j', (value, expected) => {
    const [record] = readAll(
      'traces',
      JSON_TYPE,
      jsonOf(spans({ attributes: [{ key: 'a', value }] })),
    ).records;
    expect(Object.fromEntries(record?.attributes ?? [])).toEqual(expected);
  });

  const double = (value: number) => new BinaryWriter().tag(4, WireType.Bit64).double(value).finish();
  test.each<[what: string, value: Uint8Array, expected: object]>([
    ['half an emoji', message([1, bytes(0xf0, 0x9f)]), unreadable],
    ['a long text', message([1, new Uint8Array(otlpTextBytesMax + 1)]), unreadable],
    ['a list of attributes', message([6, bytes()]), unreadable],
    ['bytes', message([7, bytes(1)]), unreadable],
    ['an infinite number', double(Number.POSITIVE_INFINITY), unreadable],
    ['not a number', double(Number.NaN), { a: 'NaN' }],
    ['a decimal', double(1.5), { a: '1.5' }],
    ['a whole number', double(123), { a: '123' }],
    ['nothing', bytes(), {}],
  ])('in protobuf: %s', (_what, value, expected) => {
    const body = spanWith([9, message([1, Buffer.from('a')], [2, value])]);
    const [record] = readAll('traces', PROTOBUF, body).records;
    expect(Object.fromEntries(record?.attributes ?? [])).toEqual(expected);
  });

  test.each([
    ['', ''],
    ['a long text', 'é€💥'.repeat(1e5)],
  ])('also in JSON with invalid UTF-8, and others keep theirs: %s', (_what, before) => {
    const b = { key: 'b', value: { stringValue: before.slice(0, 100) } };
    const a = { key: 'a', value: { stringValue: '@' } };
    const long = { key: 'c', value: { stringValue: before } };
    const text = JSON.stringify(spans({ attributes: [long, a, b] }, {}));
    const body = Buffer.from(text);
    body[body.indexOf('@')] = 0xff;
    const { records, problems } = readAll('traces', JSON_TYPE, body);
    expect([records.length, problems]).toEqual([2, []]);
    const { a: marked, b: kept } = Object.fromEntries(records[0]?.attributes ?? []);
    expect([{ a: marked }, kept]).toEqual([unreadable, before.slice(0, 100)]);
  });
});

describe('any input is either read or refused', () => {
  const sent: Sent[] = [
    { timeNs: 1_234_567_890n, attributes: { a: 'é', b: [1, 2], c: true, d: -7 }, resource: { r: '1' } },
    { traceId: traceId(2), attributes: { a: ['x', 'y'] }, eventName: 'e' },
  ];

  test.each(['traces', 'logs'] as const)('protobuf of %s, cut or with changed bytes', (signal) => {
    const seen = { read: 0, refused: 0 };
    const valid = bodyOf(signal, PROTOBUF, sent);
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.nat({ max: valid.length }).map((length) => valid.subarray(0, length)),
      fc
        .array(fc.tuple(fc.nat({ max: valid.length - 1 }), fc.nat({ max: 255 })), {
          minLength: 1,
          maxLength: 4,
        })
        .map((changes) => {
          const changed = Uint8Array.from(valid);
          for (const [at, value] of changes) changed[at] = value;
          return changed;
        }),
    );
    fc.assert(
      fc.property(anything, (body) => {
        seen[refusal(() => read(signal, PROTOBUF, body)) === 'not refused' ? 'read' : 'refused']++;
      }),
      { numRuns: 3000 },
    );
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });

  test.each(['traces', 'logs'] as const)('JSON of %s, with any value replaced', (signal) => {
    const seen = { read: 0, refused: 0 };
    const valid = JSON.parse(Buffer.from(bodyOf(signal, JSON_TYPE, sent)).toString()) as unknown;
    const places = placesIn(valid);
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue({ maxDepth: 3 }), (place, value) => {
        const body = Buffer.from(JSON.stringify(replaced(valid, place, value)));
        seen[refusal(() => read(signal, JSON_TYPE, body)) === 'not refused' ? 'read' : 'refused']++;
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(...Object.values(seen)), JSON.stringify(seen)).toBeGreaterThan(0);
  });
});

function nestedList(levels: number): unknown {
  let list: unknown = 0;
  for (let level = 0; level < levels; level++) list = [list];
  return list;
}

/** The path of every value inside a JSON value. */
function placesIn(value: unknown): (readonly string[])[] {
  const inner = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return [[], ...inner.flatMap(([name, one]) => placesIn(one).map((place) => [name, ...place]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
  copy[name] = replaced(copy[name], rest, by);
  return copy;
}
