/** JSON that is not one value per line: arrays, objects around them, and sequences of objects, in any layout. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readJson } from '../../../src/app/import/json.js';
import { success } from '../../../src/domain/result.js';
import { readRecords } from '../../support/cli/import-records.js';

type Found = [line: number, value: unknown];

/** The records of a text that arrives in chunks of `chunkBytes`; the problems of bad ones. */
async function read(text: string, path: readonly string[] = [], chunkBytes = 1000): Promise<Found[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const found: Found[] = [];
  for await (const records of readJson(chunks(), path, success))
    for (const { line, value } of records) {
      if (value === 'skipped') throw new Error('a record was skipped');
      found.push([line, value.ok ? value.value : value.problems.join('; ')]);
    }
  return found;
}

const cut = 'the file ends before its last bracket is closed';

describe.each([1, 3, 1000])('in chunks of %d bytes, JSON', (chunkBytes) => {
  test.each<[what: string, text: string, path: string[], found: unknown[]]>([
    [
      'that ends in a record is reported',
      '[{"a":1},\n{"a":',
      [],
      [
        [1, { a: 1 }],
        [2, cut],
      ],
    ],
    [
      'that ends after a record is reported',
      '[{"a":1}\n',
      [],
      [
        [1, { a: 1 }],
        [2, cut],
      ],
    ],
    ['that ends in a string is reported', '{"a":"b', [], [[1, cut]]],
    ['whose object lacks the array is reported', '\n{"error":"no"}', ['r'], [[2, 'has no array "r"']]],
    ['whose field is not an array is reported', '{"r":{"r":[]}}', ['r'], [[1, 'has no array "r"']]],
    [
      'whose path leads nowhere is reported',
      '{"r":[{"s":[1]}],"s":[2]}',
      ['r', 's'],
      [[1, 'has no array "r.s"']],
    ],
    ['that is an array instead of an object is not a record', '[{"r":[1]}]', ['r'], [[1, [{ r: [1] }]]]],
    [
      'with a bad element loses no other',
      '[{"a":1},\n{a:2},\n{"a":3}]',
      [],
      [
        [1, { a: 1 }],
        [2, 'is not JSON: "{a:2}"'],
        [3, { a: 3 }],
      ],
    ],
    [
      'with a wrong bracket loses no other',
      '[{"a":1],\n{"a":3}]',
      [],
      [
        [1, 'is not JSON: "{\\"a\\":1]"'],
        [2, { a: 3 }],
      ],
    ],
    [
      'with text between objects loses no object',
      '{"a":1}\nno\n{"a":3}',
      [],
      [
        [1, { a: 1 }],
        [2, 'is not JSON: "no"'],
        [3, { a: 3 }],
      ],
    ],
    [
      'with a bracket too many loses no object',
      '{"a":1}]\n{"a":3}',
      [],
      [
        [1, { a: 1 }],
        [1, 'is not JSON: "]"'],
        [2, { a: 3 }],
      ],
    ],
    [
      'with a misplaced bracket is reported',
      '{"r":[{"a":1}],{"a":2}}',
      ['r'],
      [
        [1, { a: 1 }],
        [1, 'has a value without a name'],
      ],
    ],
    ['that is empty has no records', ' \n', [], []],
    ['with empty arrays has no records', '[]\n[\n]', [], []],
    ['with an empty array in an object has no records', '{"r":[]}', ['r'], []],
    ['with a byte order mark is read', '\ufeff[{"a":1}]', [], [[1, { a: 1 }]]],
    [
      'with brackets and quotes in strings is read',
      '[{"a":"}]\\"[{\\\\"},{"b":"\\\\\\""}]',
      [],
      [
        [1, { a: '}]"[{\\' }],
        [1, { b: '\\"' }],
      ],
    ],
    [
      'of objects one after the other is read',
      '{"a":1}{"a":[2]}\n\n{\n"a":3}',
      [],
      [
        [1, { a: 1 }],
        [1, { a: [2] }],
        [3, { a: 3 }],
      ],
    ],
    [
      'of pages one after the other is read',
      '{"r":[{"a":1}],"next":"x"}\n{"next":null,"r":[{"a":2}]}',
      ['r'],
      [
        [1, { a: 1 }],
        [2, { a: 2 }],
      ],
    ],
    [
      'with arrays of the same name elsewhere is read',
      '{"x":{"r":[9]},"y":[{"r":[8]}],"r":[{"r":[1]}]}',
      ['r'],
      [[1, { r: [1] }]],
    ],
    ['with the name as a value is read', '{"x":"r","y":[9],"r":[1]}', ['r'], [[1, 1]]],
    [
      'with a path of two names is read',
      '{"b":[9],"a":{"c":[8],"b":[1,2],"d":[7]},"c":{"b":[6]}}',
      ['a', 'b'],
      [
        [1, 1],
        [1, 2],
      ],
    ],
    ['with an escaped name is read', '{"\\u0072":[1]}', ['r'], [[1, 1]]],
  ])('%s', async (_what, text, path, found) => {
    expect(await read(text, path, chunkBytes)).toEqual(found);
  });
});

const records = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }), { maxLength: 8 });
const layouts = fc.constantFrom(undefined, 1, 2, '\t');
const sizes = fc.integer({ min: 1, max: 200 });

test('the same records are found in any layout, around any other fields, and in chunks of any size', async () => {
  const property = fc.asyncProperty(
    records,
    fc.dictionary(
      fc.string().filter((name) => name !== 'data'),
      fc.jsonValue(),
      { maxKeys: 3 },
    ),
    layouts,
    sizes,
    async (all, other, layout, chunkBytes) => {
      // As JSON has them: without -0.
      const expected = JSON.parse(JSON.stringify(all)) as unknown[];
      const values = async (text: string, path: string[]) =>
        (await read(text, path, chunkBytes)).map(([, value]) => value);
      const text = (value: unknown) => JSON.stringify(value, null, layout);
      expect(await values(text(all), [])).toEqual(expected);
      expect(await values(all.map(text).join('\n'), [])).toEqual(expected);
      const { data: _data, ...rest } = other;
      for (const page of [
        { ...rest, data: all },
        { data: all, ...rest },
      ]) {
        expect(await values(text(page) + text(page), ['data'])).toEqual([...expected, ...expected]);
        expect(await values(text({ ...rest, a: page, b: [page] }), ['a', 'data'])).toEqual(expected);
      }
    },
  );
  await fc.assert(property, { numRuns: 150 });
});

test('a wrong character anywhere is reported, unless all records are found regardless of it', async () => {
  // Without escapes: from Node 24 on, JSON.parse may take one for a backslash that it has seen in another name (nodejs/node#63785).
  const names = fc.constantFrom('x', 'yy', 'z}');
  const values = fc.oneof(
    fc.integer(),
    fc.string({ maxLength: 3 }),
    fc.constantFrom(null, [], {}, [[1]], { data: [7] }, '"', '\\'),
  );
  const property = fc.asyncProperty(
    fc.array(fc.dictionary(names, values, { maxKeys: 2 }), { maxLength: 3 }),
    fc.dictionary(names, values, { maxKeys: 2 }),
    fc.boolean(),
    fc.nat(),
    fc.constantFrom('', '{', '}', '[', ']', '"', ',', ':', '\\', ' ', '\n', '1'),
    fc.boolean(),
    async (all, other, isWrapped, place, character, replaces) => {
      const text = JSON.stringify(isWrapped ? { ...other, data: all, end: other } : all);
      const at = place % text.length;
      const changed = text.slice(0, at) + character + text.slice(replaces || character === '' ? at + 1 : at);
      const found = await read(changed, isWrapped ? ['data'] : []);
      const bad = found.filter(([, value]) => typeof value === 'string' && /^(is|has|the file) /.test(value));
      if (bad.length > 0) return;
      const expected = parseOr(
        changed,
        (value) => (isWrapped ? (value as { data: unknown }).data : value),
        all,
      );
      expect(found.map(([, value]) => value)).toEqual(expected);
    },
  );
  await fc.assert(property, { numRuns: 3000 });
});

/** Part of the value of a JSON text, or `otherwise` if it is not JSON. */
function parseOr(text: string, select: (value: unknown) => unknown, otherwise: unknown): unknown {
  try {
    return select(JSON.parse(text));
  } catch {
    return otherwise;
  }
}

test('a record longer than 1 MiB is bad, however it is cut, and the next one is read', async () => {
  const text = `[{"a":"${'x'.repeat(1024 * 1024)}"},\n{"a":2}]`;
  for (const chunkBytes of [1000, 65_536, 10_000_000]) {
    expect(await read(text, [], chunkBytes)).toEqual([
      [1, 'is longer than 1048576 bytes'],
      [2, { a: 2 }],
    ]);
  }
});

describe('without --format, the layout of JSON is detected:', () => {
  const query = (id: string) => ({ id, caller: 'web', occurredAt: '2026-01-31T12:00:00Z' });
  const noon = (id: string) => [id, 'web', '2026-01-31T12:00:00.000Z'];
  const two = [query('a'), query('b')];
  test.each<[what: string, name: string, text: string, found: unknown[]]>([
    [
      'an array',
      'file',
      JSON.stringify(two),
      [
        [1, noon('a')],
        [1, noon('b')],
      ],
    ],
    [
      'an indented array after blank lines',
      'file',
      `\n \n${JSON.stringify(two, null, 2)}`,
      [
        [4, noon('a')],
        [9, noon('b')],
      ],
    ],
    [
      'indented objects in a file named so',
      'file.json.gz',
      two.map((one) => JSON.stringify(one, null, 2)).join('\n'),
      [
        [1, noon('a')],
        [6, noon('b')],
      ],
    ],
    [
      'one object per line in a file named so, with a bad line',
      'file.json',
      `${JSON.stringify(two[0])}\n{"id":\n${JSON.stringify(two[1])}`,
      [
        [1, noon('a')],
        [2, 'is not JSON: "{\\"id\\":"'],
        [3, noon('b')],
      ],
    ],
    [
      'one object per line, the first bad',
      'file',
      `{"id":\n${JSON.stringify(two[1])}`,
      [
        [1, 'is not JSON: "{\\"id\\":"'],
        [2, noon('b')],
      ],
    ],
  ])('%s', async (_what, name, text, found) => {
    for (const chunkBytes of [1, 1000]) expect(await readRecords(text, {}, chunkBytes, name)).toEqual(found);
  });

  test('the message about an object around the records names the option', async () => {
    const text = JSON.stringify({ items: two, count: 2 });
    const options = { map: ['id=id'] };
    const [[, problem] = []] = await readRecords(text, options);
    expect(problem).toContain('if the records are in "items", give --records items');
    expect(await readRecords(text, { ...options, records: 'items' })).toEqual([
      [1, noon('a')],
      [1, noon('b')],
    ]);
  });
});
