import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotTextError, readText } from '../../../../src/app/import/file/text.js';
import { PackedDataError, unpack } from '../../../../src/app/import/file/unpack.js';

async function read(bytes: Uint8Array, chunkBytes = 3): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunkBytes)
      yield Buffer.from(bytes.subarray(at, at + chunkBytes));
  }
  const pieces: Buffer[] = [];
  for await (const piece of readText(unpack(chunks()))) pieces.push(piece);
  return Buffer.concat(pieces);
}

function utf16(text: string, order: 'little' | 'big'): Buffer {
  const bytes = Buffer.from(text, 'utf16le');
  return order === 'big' ? bytes.swap16() : bytes;
}

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const zip = latin1('PK\x03\x04\x14\0\0\0\x08\0........................queries.csv');

describe('files that are not text are named:', () => {
  test.each([
    ['a zip archive', zip, 'it is a zip archive; unpack it first'],
    ['a zip archive in gzip', gzipSync(zip), 'it is a zip archive; unpack it first'],
    [
      'a workbook',
      latin1(`${zip.toString('latin1', 0, 30)}[Content_Types].xml`),
      'it is a spreadsheet; save it as CSV',
    ],
    ['gzip in gzip', gzipSync(gzipSync('a')), 'it is compressed twice; unpack it once'],
    ['bzip2', latin1('BZh91AY&SY'), 'it is compressed with bzip2; unpack it first'],
    ['tar', latin1(`${'queries.csv'.padEnd(257, '\0')}ustar\x0000`), 'it is a tar archive; unpack it first'],
    ['Parquet', latin1('PAR1\x15\x04'), 'it is a Parquet file; export it as CSV or NDJSON'],
    [
      'an error page',
      latin1('\n<!DOCTYPE html><title>Sign in</title>'),
      'it is an HTML page; download the file itself',
    ],
    ['PDF', latin1('%PDF-1.7'), 'it is a PDF document; export the table in it as CSV'],
    ['UTF-32', latin1('\xff\xfe\0\0i\0\0\0'), 'it is UTF-32 text; save it as UTF-8'],
  ])('%s', async (_what, bytes, message) => {
    await expect(read(bytes)).rejects.toThrow(new NotTextError(message));
  });

  test('UTF-16 that ends within a character', async () => {
    await expect(read(utf16('\ufeffid,caller', 'little').subarray(0, -1))).rejects.toThrow(PackedDataError);
  });
});

test.each([
  'PK,name\n1,xl/a\n',
  `{"id":"1","text":"${'x'.repeat(235)} gustar"}`.padEnd(600),
  `${'x'.repeat(257)}ustar`,
])('text that has what begins or marks another kind is text: %.20s…', async (text) => {
  expect((await read(Buffer.from(text))).toString()).toBe(text);
});

test('half a character of UTF-16 is invalid UTF-8, and nothing around it changes', async () => {
  expect(await read(utf16('\ufeffid\ud800,\udc00x\n\u{1f600}', 'little'))).toEqual(
    Buffer.concat([Buffer.from('\ufeff'), latin1('id\xff,\xffx\n'), Buffer.from('\u{1f600}')]),
  );
});

test('a text in any encoding is the same text', async () => {
  const property = fc.asyncProperty(
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('utf-8', 'little', 'big'),
    fc.boolean(),
    fc.integer({ min: 1, max: 50 }),
    async (more, encoding, isMarked, chunkBytes) => {
      const text = `${isMarked ? '\ufeff' : ''}{"id":"a"}${more}`;
      const bytes = encoding === 'utf-8' ? Buffer.from(text) : utf16(text, encoding);
      expect((await read(bytes, chunkBytes)).toString()).toBe(text);
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

test('a log with zeros, as a cut one has, stays as it is', async () => {
  const log = Buffer.concat([Buffer.alloc(301), latin1('192.0.2.1 - - [31/Jan/2026:23:59:59 +0000]')]);
  expect(await read(log)).toEqual(log);
});
