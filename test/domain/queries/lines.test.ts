import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { identicalLinesKept } from '../../../src/domain/limits.js';
import {
  decodeUtf8,
  isBlank,
  type JsonBounds,
  LineIds,
  nonBlankLines,
  parseJson,
  parseJsonInSteps,
} from '../../../src/domain/queries/lines.js';
import { failure, success } from '../../../src/domain/result.js';

const makeIds = (lines: readonly string[], key?: Uint8Array, source?: string): string[] => {
  const ids = new LineIds({ key, source });
  return lines.map((line) => ids.next(Buffer.from(line)));
};

function countLine(lines: readonly string[], line: string): number {
  return lines.filter((one) => one === line).length;
}

/** Files of few different lines, so that many are identical. */
const files = fc.array(fc.array(fc.constantFrom('a', 'b', 'c', 'a\n2', ''), { maxLength: 12 }), {
  maxLength: 5,
});

describe('ids of lines', () => {
  test('of several files identify each line as often as the file with most copies of it', () => {
    const property = fc.property(files, (all) => {
      const recorded = new Set(all.flatMap((lines) => makeIds(lines)));
      const lines = new Set(all.flat());
      const most = [...lines].map((line) => Math.max(...all.map((file) => countLine(file, line))));
      // A line contains no line end. This one looks like the second copy of `a`.
      fc.pre(![...lines].includes('a\n2'));
      expect(recorded.size).toBe(most.reduce((sum, count) => sum + count, 0));
    });
    fc.assert(property, { numRuns: 500 });
  });

  test('are UUIDs that do not depend on the order of lines', () => {
    const property = fc.property(fc.uniqueArray(fc.string(), { maxLength: 20 }), (lines) => {
      const ids = new Map(makeIds(lines).map((id, at) => [lines[at], id]));
      const others = makeIds(lines.toReversed()).reverse();
      expect(others).toEqual(lines.map((line) => ids.get(line)));
      for (const id of others)
        expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    });
    fc.assert(property);
  });

  test('differ for each key', () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const lines = ['a', 'a', 'b'];
    expect(
      new Set([...makeIds(lines), ...makeIds(lines, one), ...makeIds(lines, two), ...makeIds(lines, one)])
        .size,
    ).toBe(9);
  });

  test('differ for each source, however often a file is read', () => {
    const lines = ['a', 'a', 'b'];
    const of = (source?: string) => makeIds(lines, undefined, source);
    expect(new Set([...of(), ...of('web-1'), ...of('web-2'), ...of('2'), ...of('web-1')]).size).toBe(12);
  });

  test('tell identical lines apart, up to a limited number of different lines', () => {
    const ids = new LineIds();
    const line = Buffer.from('a');
    const first = ids.next(line);
    expect(ids.next(line)).not.toBe(first);
    for (let at = 0; at < identicalLinesKept; at++) ids.next(Buffer.from(String(at)));
    expect(ids.next(line)).toBe(first);
  });

  test('never change between releases', () => {
    expect(makeIds(['a', 'a'])).toEqual([
      'ca978112-ca1b-8dca-bac2-31b39a23dc4d',
      '29c58cb1-4a61-8e5f-a72f-134caaaf5de0',
    ]);
    expect(makeIds(['a', 'a'], undefined, 'web-1')).toEqual([
      '027ad60d-83a7-8b1e-8dde-a3c04cee3267',
      'bce0ca9d-1f0c-8fe2-9a19-94eb52c78953',
    ]);
  });
});

describe('non-blank lines', () => {
  const readLines = (text: string) =>
    [...nonBlankLines(Buffer.from(text))].flatMap((line) =>
      line === undefined ? [] : [Buffer.from(line).toString()],
    );

  test.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['abc\r\nd', ['abc', 'd']],
    ['a\n\nb', ['a', 'b']],
    ['\r\n \t\n  a \n\n', ['a ']],
    ['a\u2028b\rc', ['a\u2028b\rc']],
  ])('of %j are %j', (text, lines) => {
    expect(readLines(text)).toEqual(lines);
  });

  test.each([' ', '\n', '\r\n\t'])('between megabytes of %j come with pauses', (blank) => {
    const text = `${blank.repeat(1e6)}a\n${blank.repeat(1e6)}b${blank.repeat(1e6)}`;
    expect(readLines(text.slice(0, 2e6 * blank.length + 2))).toEqual(['a']);
    const pauses = [...nonBlankLines(Buffer.from(text))].filter((line) => line === undefined);
    expect(pauses.length).toBeGreaterThanOrEqual(15 * blank.length);
    expect(pauses.length).toBeLessThanOrEqual(25 * blank.length);
  });

  test('have more than white space', () => {
    expect(isBlank(Buffer.from(' \t\r'))).toBe(true);
    expect(isBlank(Buffer.from(''))).toBe(true);
    expect(isBlank(Buffer.from(' x '))).toBe(false);
  });

  test('must be UTF-8; a byte order mark is dropped only before JSON', () => {
    expect(decodeUtf8(Uint8Array.of(0x61, 0xff))).toEqual({ ok: false, problems: ['is not valid UTF-8'] });
    expect(parseJson(Uint8Array.of(0xff))).toEqual({ ok: false, problems: ['is not valid UTF-8'] });
    expect(decodeUtf8(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).toEqual({ ok: true, value: '\ufeffa' });
    expect(parseJson(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toEqual({ ok: true, value: 1 });
  });

  test.each([
    ['{} {', 'has a second object behind the first value; JSON is one value, such as one array'],
    [
      '\ufeff[]\n[1]',
      'has a second array behind the first value, on line 2; JSON is one value, such as one array',
    ],
    ['{}}', 'is not JSON: "{}}"'],
    ['1 2', 'is not JSON: "1 2"'],
  ])('with more than JSON say so: %j', (text, problem) => {
    expect(parseJson(Buffer.from(text))).toEqual({ ok: false, problems: [problem] });
  });

  test('that are not JSON are refused with an excerpt', () => {
    expect(parseJson(Buffer.from('{"a"'))).toEqual({ ok: false, problems: ['is not JSON: "{\\"a\\""'] });
    expect(parseJson(Buffer.from('{"a":1}'))).toEqual({ ok: true, value: { a: 1 } });
  });
});

describe('large JSON is parsed in steps', () => {
  const bounds = { partsMax: 2_000_000, itemPartsMax: 1000 };
  const parse = (bytes: Buffer, more: JsonBounds = {}) => {
    const parsing = parseJsonInSteps(bytes, { ...bounds, ...more });
    let steps = 0;
    let { done, value } = parsing.next();
    for (; !done; { done, value } = parsing.next()) steps++;
    return { value, steps };
  };

  test.each([
    ['white space', `${' '.repeat(4e6)}[]`],
    ['digits', '1'.repeat(4e6)],
    ['characters of several bytes', `"a${'é€💥'.repeat(7e5)}"`],
    ['short values', `[${'"a",'.repeat(1e6)}1]`],
    ['too many levels at its end', `${' '.repeat(4e6)}${'['.repeat(100)}`],
  ])('of %s', (_what, text) => {
    const bytes = Buffer.from(text);
    const { value, steps } = parse(bytes);
    expect(value).toEqual(parseJson(bytes, bounds));
    expect(steps).toBeGreaterThanOrEqual(15);
  });

  test('an array some elements at a time', () => {
    const parsed = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parsed.mockRestore());
    const elements = Array.from({ length: 10_000 }, (_, at) => ({
      id: `${at} ☃\n`.repeat(50),
      caller: 'web',
    }));
    expect(parse(Buffer.from(JSON.stringify(elements))).value).toEqual(success(elements));
    for (const [text] of parsed.mock.calls) expect(text.length).toBeLessThan(150_000);
  });

  const pad = `"${'é'.repeat(70_000)}"`;
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constant(pad) },
    { weight: 4, arbitrary: fc.constantFrom(',', ', ', ',\n') },
    fc.constantFrom(
      '[',
      ']',
      '{',
      '}',
      '1',
      '{"a":[1,"]"]}',
      '"\\"\\\\"',
      '"',
      ' ',
      '\n',
      ':',
      ',,',
      '\ufeff',
    ),
  );
  test('with the value or the problem that it has when it is parsed at once', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.constantFrom('', '\ufeff'), (pieces, mark) => {
        for (const body of [pieces, pieces.flatMap((one) => [one, ','])]) {
          const bytes = Buffer.from(`${mark}[${pad},${body.join('')}${pad}]`);
          expect(parse(bytes).value).toEqual(parseJson(bytes, bounds));
        }
      }),
      { numRuns: 40 },
    );
  });

  test.each([
    ['two commas', `[${pad},${pad},,${pad}]`],
    ['a colon instead of a comma', `[${pad}:${pad},${pad}]`],
    ['white space between commas', `[${pad},${' '.repeat(140_000)},${pad}]`],
    ['a comma at its end', `[${pad},${pad},]`],
    ['another value behind it', `[${pad},${pad},\n1]\n[2]`],
    ['the end of another value before it', `[${pad},${pad}],${pad},${pad}]`],
  ])('and refused with %s', (_what, text) => {
    const bytes = Buffer.from(text);
    expect(parseJson(bytes).ok).toBe(false);
    expect(parse(bytes).value).toEqual(parseJson(bytes));
  });

  test.each([
    ['a text', '"'.padEnd(200_001, '\\n'), '"'],
    ['an object', `{"a":"${'b'.repeat(150_000)}"`, `,"b":"${'b'.repeat(50_000)}"}`],
  ])('and refused with %s that is too large, wherever it is', (_what, start, end) => {
    const bytesMax = start.length + end.length;
    for (const json of [
      `${start}${end}`,
      `[1,${start}${end}]`,
      `[${start}${end} ,${pad}]`,
      `[[1],${start}${end}]`,
    ]) {
      const bytes = Buffer.from(` ${json} `);
      const problem = `has a value of more than ${bytesMax - 2} bytes; send less at a time`;
      expect(parse(bytes, { itemBytesMax: bytesMax }).value).toEqual(success(JSON.parse(json)));
      expect(parse(bytes, { itemBytesMax: bytesMax - 2 }).value).toEqual(failure(problem));
    }
  });
});
