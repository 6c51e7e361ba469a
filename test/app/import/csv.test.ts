import { describe, expect, test } from 'vitest';
import { selectReader } from '../../../src/app/import/formats.js';
import { readForm } from '../../../src/cli/options/import-form.js';

/** Reads the ids of CSV that arrives in chunks of this size. */
async function readIds(text: string, chunkBytes: number): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const form = await readForm({ format: 'csv' });
  const ids: unknown[] = [];
  for await (const { value } of selectReader(form, 'file')(chunks())) {
    if (value === 'skipped') throw new Error('a CSV record was skipped');
    ids.push(value.ok ? (value.value as { id: unknown }).id : value.problems);
  }
  return ids;
}

test.each([
  ['semicolons', 'id;caller\n"a;b";web\nc,d;web', ['a;b', 'c,d']],
  ['tabs', 'id\tcaller\na b\tweb\nc,d\tweb', ['a b', 'c,d']],
  ['semicolons, with fewer of the other characters', 'id;caller;"occurredAt"\na;web;', ['a']],
])('%s may separate fields', async (_what, text, ids) => {
  expect(await readIds(text, 7)).toEqual(ids);
});

test('characters in quotes do not count as separators', async () => {
  const form = await readForm({ format: 'csv', map: ['id=a;b;c', 'occurredAt=at'], caller: 'web' });
  async function* chunks() {
    yield Buffer.from('at,"a;b;c"\n2026-01-31T12:00:00Z,x');
  }
  for await (const { value } of selectReader(form, 'file')(chunks())) {
    expect(value).toMatchObject({ ok: true, value: { id: 'x' } });
  }
});

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
    ['with spaces', 'id,caller\n a ,web\n', [' a ']],
    ['with CRLF and blank lines', 'id,caller\r\n\r\na,web\r\n \r\nb,web', ['a', 'b']],
    [
      'with a quote that is not closed',
      'id,caller\n"a,web\nb,web\n',
      [['has a quote that is not closed'], 'b'],
    ],
  ])('%s', async (_what, text, ids) => {
    expect(await readIds(text, chunkBytes)).toEqual(ids);
  });
});
