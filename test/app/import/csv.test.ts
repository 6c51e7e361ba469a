import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { selectReader } from '../../../src/app/import/formats.js';
import { type FormOptions, readForm } from '../../../src/cli/options/import-form.js';
import { readRecords } from '../../support/cli/import-records.js';

/** Reads the ids of CSV that arrives in chunks of this size. */
async function readIds(text: string, chunkBytes: number): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const form = await readForm({ format: 'csv' });
  const ids: unknown[] = [];
  for await (const records of selectReader(form, 'file')(chunks()))
    for (const { value } of records) {
      if (value === 'skipped') throw new Error('a CSV record was skipped');
      ids.push(value.ok ? (value.value as { id: unknown }).id : value.problems);
    }
  return ids;
}

const time = '2026-01-31T12:00:00Z';
const own = { format: 'csv' } as const;
const mapped = { ...own, map: ['occurredAt=at'] };
const within = (line: number) => `is a row, but within quotes that begin in line ${line}`;
const has = (rows: string) =>
  `has ${rows}, within its quotes: close the quote or remove it, and import the file again`;

describe('rows within quotes are bad, and so is the row with the quote:', () => {
  test.each<[string, string, FormOptions, [number, string][]]>([
    [
      'two quotes in an ignored column',
      `id,caller,at,text\n1,web,${time},a\n2,web,${time},"b\n3,web,${time},c\n4,web,${time},d"\n5,web,${time},\n`,
      mapped,
      [
        [3, has('rows up to line 5')],
        [4, within(3)],
        [5, within(3)],
      ],
    ],
    [
      'quotes around all of them',
      `id,caller,occurredAt\n"1,web,${time}\n2,web,${time}\n3",web,${time}\n`,
      own,
      [
        [2, has('rows up to line 4')],
        [3, within(2)],
        [4, within(2)],
      ],
    ],
    [
      'a row with an empty quoted field',
      `id,caller,at,text\n1,web,${time},"a\n2,web,${time},""\n3,web,${time},b"\n`,
      mapped,
      [
        [2, has('rows up to line 4')],
        [3, within(2)],
        [4, within(2)],
      ],
    ],
    [
      'a quote after a field that needs quotes',
      `id,text,caller,at,more\n1,"a, b",web,${time},"\n2,c,web,${time},d"\n`,
      mapped,
      [
        [2, has('line 3, which is a row')],
        [3, within(2)],
      ],
    ],
    [
      'a quote in the first line',
      `id,caller,at,"text\n1,web,${time},a"\n2,web,${time},b\n`,
      mapped,
      [
        [1, has('line 2, which is a row')],
        [2, within(1)],
      ],
    ],
  ])('%s', async (_what, text, options, bad) => {
    const outcomes = await readRecords(text, options);
    expect(outcomes.filter(([, outcome]) => typeof outcome === 'string')).toEqual(bad);
  });
});

test('ids that a spreadsheet rounded are bad, and no duplicates', async () => {
  const text = ['1.2E+17', '1,23457E+17', '1.2e+17', '120000000000000001', '12E17', '1E5'].map(
    (id) => `${id};web\n`,
  );
  const outcomes = await readRecords(`id;caller\n${text.join('')}`, own);
  expect(outcomes.map(([, outcome]) => (typeof outcome === 'string' ? 'bad' : outcome[0]))).toEqual([
    ...['bad', 'bad', 'bad', '120000000000000001', '12E17', '1E5'],
  ]);
  expect(outcomes[0]?.[1]).toBe(
    'id: "1.2E+17" is a number that a spreadsheet rounded: export the file again with this column as text, without opening it in a spreadsheet',
  );
});

test('a rounded id is exact only in a row as the export writes it, among the columns of the export', async () => {
  const header = 'id,caller,occurredAt,recordedOn,recordedBy';
  const rest = '2026-01-31T12:00:00.000Z,2026-01-31,key:a';
  const isRead = async (columns: string, row: string) =>
    (await readIds(`${columns}\n${row}\n`, 1000)).every((id) => typeof id === 'string');
  expect(await isRead(header, `"1.2E+17","web",${rest}`)).toBe(true);
  expect(await isRead(header, `"1,2E+17","web",${rest}`)).toBe(true);
  // As spreadsheets and other programs write what a spreadsheet has rounded.
  expect(await isRead(header, `1.2E+17,web,${rest}`)).toBe(false);
  expect(await isRead(header, `"1,2E+17",web,${rest}`)).toBe(false);
  expect(await isRead(header, `"1.2E+17","web","${rest.replaceAll(',', '","')}"`)).toBe(false);
  expect(await isRead('id,caller,occurredAt', `"1.2E+17","web",${time}`)).toBe(false);
});

test('each row is recorded or named, however its quotes are misplaced', async () => {
  const field = fc
    .array(fc.constantFrom('a', ' ', ',', '"', '\n', ',\n', 'x,web,y'), { maxLength: 6 })
    .map((parts) => parts.join(''));
  const property = fc.asyncProperty(
    fc.array(field, { minLength: 1, maxLength: 6 }),
    fc.nat(),
    fc.boolean(),
    async (texts, place, isSound) => {
      const rows = texts.map((text, at) =>
        /[",\n]/.test(text)
          ? `row-${at},"${text.replaceAll('"', '""')}",web,${time}\n`
          : `row-${at},${text},web,${time}\n`,
      );
      const body = rows.join('');
      const cut = place % body.length;
      const spoiled = isSound ? body : `${body.slice(0, cut)}"${body.slice(cut)}`;
      const outcomes = await readRecords(`id,text,caller,at\n${spoiled}`, mapped);
      const ids = outcomes.flatMap(([, outcome]) => (typeof outcome === 'string' ? [] : [outcome[0]]));
      const badLines = outcomes.flatMap(([line, outcome]) => (typeof outcome === 'string' ? [line] : []));
      const missing = texts.flatMap((_text, at) => (ids.includes(`row-${at}`) ? [] : [at]));
      if (isSound) expect([missing, badLines]).toEqual([[], []]);
      for (const id of ids) expect(rows[Number(id.slice('row-'.length))]).toBeDefined();
      for (const at of missing) {
        const [from, to] = [rows.slice(0, at), rows.slice(0, at + 1)].map(
          (before) => before.join('').split('\n').length,
        );
        expect(badLines.some((line) => line > (from ?? 0) && line <= (to ?? 0))).toBe(true);
      }
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test.each([
  ['semicolons', 'id;caller\n"a;b";web\nc,d;web', ['a;b', 'c,d']],
  ['tabs', 'id\tcaller\na b\tweb\nc,d\tweb', ['a b', 'c,d']],
  [
    'the character that a spreadsheet names',
    'sep=|\r\nid|caller\r\n"a|b"|web\r\nc,d;e|web',
    ['a|b', 'c,d;e'],
  ],
  ['the character that a line in quotes names', '\ufeff"sep=;"\nid;caller\na,b,c;web', ['a,b,c']],
  ['semicolons, with fewer of the other characters', 'id;caller;"occurredAt"\na;web;', ['a']],
])('%s may separate fields', async (_what, text, ids) => {
  expect(await readIds(text, 7)).toEqual(ids);
});

test('characters in quotes do not count as separators', async () => {
  const form = await readForm({ format: 'csv', map: ['id=a;b;c', 'occurredAt=at'], caller: 'web' });
  async function* chunks() {
    yield Buffer.from('at,"a;b;c"\n2026-01-31T12:00:00Z,x');
  }
  for await (const records of selectReader(form, 'file')(chunks())) {
    for (const { value } of records) expect(value).toMatchObject({ ok: true, value: { id: 'x' } });
  }
});

const carriageReturns =
  'has several rows, with a CR alone at the end of each: save the file with LF or CRLF at the end of each row, and import it again';

describe.each([1, 7, 1000])('ids are read from CSV in chunks of %d bytes', (chunkBytes) => {
  test.each([
    ['with a line end in quotes', 'id,caller\n"a\r\nb",web\n"a\nb",web\n', ['a\r\nb', 'a\nb']],
    [
      'with a line end in quotes in a CRLF file',
      'id,caller\r\n"a\r\nb",web\r\n"a\nb",web\r\n',
      ['a\r\nb', 'a\nb'],
    ],
    ['with a byte order mark after the header', 'id,caller\n\ufeffa,web\na,web\n', ['\ufeffa', 'a']],
    ['with a byte order mark at the beginning', '\ufeffid,caller\na,web\n', ['a']],
    ['with quotes and commas', 'id,caller\n"a,""b""",web\n', ['a,"b"']],
    [
      'with a line end in quotes between rows without a time',
      `id,caller,occurredAt\n"a,a,\n'",web,${time}\n`,
      ["a,a,\n'"],
    ],
    ['with spaces', 'id,caller\n a ,web\n', [' a ']],
    ['with CRLF and blank lines', 'id,caller\r\n\r\na,web\r\n \r\nb,web', ['a', 'b']],
    [
      'with a quote that is not closed',
      'id,caller\n"a,web\nb,web\n',
      [['has a quote that is not closed'], 'b'],
    ],
    [
      'with a CR alone after a row in quotes',
      'id,caller\n"a","web"\r"b","web"\nc,web\n',
      [[carriageReturns], 'c'],
    ],
    [
      'with a CR alone after the header in quotes',
      '"id","caller"\r"a","web"\r"b","web"\r',
      [[carriageReturns]],
    ],
    ['with a CR and a CRLF after each row', '"id","caller"\r\r\n"a","web"\r\r\n', ['a']],
  ])('%s', async (_what, text, ids) => {
    expect(await readIds(text, chunkBytes)).toEqual(ids);
  });
});
