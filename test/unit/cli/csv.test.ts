import { describe, expect, test } from 'vitest';
import { selectReader } from '../../../src/app/import/formats.js';
import { readForm } from '../../../src/cli/options/import-form.js';

/** The ids that a CSV has, read in chunks of the given size. */
async function idsOf(text: string, chunkBytes: number): Promise<unknown[]> {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
  }
  const form = await readForm({ format: 'csv' });
  const ids: unknown[] = [];
  for await (const { value } of selectReader(form, 'file')(chunks())) {
    if (value === 'skipped') throw new Error('no record of CSV is passed over');
    ids.push(value.ok ? (value.value as { id: unknown }).id : value.problems);
  }
  return ids;
}

describe.each([1, 7, 1000])('ids of CSV read %d bytes at a time stay what they are', (chunkBytes) => {
  test.each([
    ['a line end within quotes', 'id,caller\n"a\r\nb",web\n"a\nb",web\n', ['a\r\nb', 'a\nb']],
    ['the same in a file of CRLF', 'id,caller\r\n"a\r\nb",web\r\n"a\nb",web\r\n', ['a\r\nb', 'a\nb']],
    ['a byte order mark that is no file beginning', 'id,caller\n\ufeffa,web\na,web\n', ['\ufeffa', 'a']],
    ['a byte order mark that is one', '\ufeffid,caller\na,web\n', ['a']],
    ['quotes and commas', 'id,caller\n"a,""b""",web\n', ['a,"b"']],
    ['spaces', 'id,caller\n a ,web\n', [' a ']],
    ['CRLF and blank lines', 'id,caller\r\n\r\na,web\r\n \r\nb,web', ['a', 'b']],
    ['a quote that nothing closes', 'id,caller\n"a,web\nb,web\n', [['has a quote that is not closed'], 'b']],
  ])('%s', async (_what, text, ids) => {
    expect(await idsOf(text, chunkBytes)).toEqual(ids);
  });
});
