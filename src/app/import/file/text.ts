/** Names files that are not text, which no format reads, and makes UTF-8 of UTF-16. */
import { StringDecoder } from 'node:string_decoder';
import { PackedDataError, prepend, takeStart } from './unpack.js';

/** A file that is not text. The message continues a sentence that starts with the file's name. */
export class NotTextError extends Error {
  override readonly name = 'NotTextError';
}

const [asCsv, asTable, unpacked] = ['save it as CSV', 'export it as CSV or NDJSON', 'unpack it first'];

/**
 * The first bytes of files that no format reads, as Latin-1, what they are, and what to do with them. No text that somebody
 * imports begins so.
 */
const KINDS: readonly [start: string | RegExp, what: string, remedy: string][] = [
  [/^PK.*(?:\[Content_Types\]|_rels\/|xl\/|opendocument\.spreadsheet)/s, 'a spreadsheet', asCsv],
  ['PK\x03\x04', 'a zip archive', unpacked],
  ['PK\x05\x06', 'an empty zip archive', unpacked],
  ['PK\x07\x08', 'a part of a zip archive', unpacked],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'a document of an older Excel', asCsv],
  ['\x1f\x8b', 'compressed twice', 'unpack it once'],
  ['\x28\xb5\x2f\xfd', 'compressed twice', 'unpack it once'],
  [/^BZh[1-9]1AY&SY/, 'compressed with bzip2', unpacked],
  ['\xfd7zXZ\0', 'compressed with xz', unpacked],
  ['7z\xbc\xaf\x27\x1c', 'a 7z archive', unpacked],
  ['Rar!\x1a\x07', 'a RAR archive', unpacked],
  ['\x04\x22\x4d\x18', 'compressed with LZ4', unpacked],
  [/^.{257}ustar/s, 'a tar archive', unpacked],
  ['PAR1\x15', 'a Parquet file', asTable],
  ['Obj\x01', 'an Avro file', asTable],
  ['ARROW1\0', 'an Arrow file', asTable],
  ['SQLite format 3\0', 'a SQLite database', 'export its table as CSV'],
  ['PGDMP', 'a dump of PostgreSQL', 'export its table as CSV'],
  ['%PDF-', 'a PDF document', 'export the table in it as CSV'],
  [/^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)\b/i, 'an HTML page', 'download the file itself'],
  [/^(?:\xef\xbb\xbf)?\s*<\?xml\b/, 'an XML document', asTable],
  ['\xff\xfe\0\0', 'UTF-32 text', 'save it as UTF-8'],
  ['\0\0\xfe\xff', 'UTF-32 text', 'save it as UTF-8'],
];

/** Enough for the header of a tar archive. */
const startBytes = 512;

/** The bytes of a text in UTF-8. Throws a `NotTextError`. */
export async function* readText(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const start = await takeStart(bytes, (taken) => taken.length >= startBytes || hasLine(taken));
  const text = start.toString('latin1', 0, startBytes);
  for (const [pattern, what, remedy] of KINDS) {
    const isOfKind = typeof pattern === 'string' ? text.startsWith(pattern) : pattern.test(text);
    if (isOfKind) throw new NotTextError(`it is ${what}; ${remedy}`);
  }
  const order = byteOrderOf(start.subarray(0, startBytes));
  const all = prepend(start, bytes);
  yield* order === undefined ? all : fromUtf16(all, order);
}

/** Whether it has a line of text. A pipe may stay open for long before more follows. */
function hasLine(start: Buffer): boolean {
  return !start.includes(0) && /\S.*\n/.test(start.toString('latin1'));
}

type ByteOrder = 'little' | 'big';

/** Of a text without a byte order mark, the zeros of its ASCII characters tell. UTF-8 has none. */
function byteOrderOf(start: Buffer): ByteOrder | undefined {
  if (start.length < 2) return undefined;
  if (start[0] === 0xff && start[1] === 0xfe) return 'little';
  if (start[0] === 0xfe && start[1] === 0xff) return 'big';
  const first = start
    .subarray(0, 4)
    .map((byte) => Math.min(byte, 1))
    .join('');
  if (first === '1010') return 'little';
  if (first === '0101') return 'big';
  const zeros = [0, 0];
  for (const [at, byte] of start.entries()) if (byte === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  // Some other characters have zeros in their other half. A log that was cut while it was written may begin with zeros.
  if (16 * (even + odd) < start.length) return undefined;
  if (odd > 4 * even) return 'little';
  return even > 4 * odd ? 'big' : undefined;
}

async function* fromUtf16(bytes: AsyncGenerator<Buffer>, order: ByteOrder): AsyncGenerator<Buffer> {
  // Keeps what is not a character, unlike `TextDecoder`, so that only its record is bad.
  const decoder = new StringDecoder('utf16le');
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    const all = Buffer.concat([rest, chunk]);
    const even = all.length - (all.length % 2);
    rest = all.subarray(even);
    const pairs = all.subarray(0, even);
    yield toUtf8(decoder.write(order === 'big' ? pairs.swap16() : pairs));
  }
  yield toUtf8(decoder.end());
  if (rest.length > 0) throw new PackedDataError('its UTF-16 text is cut short');
}

/** Half a surrogate pair becomes a byte that UTF-8 does not have. */
function toUtf8(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const [first = '', ...others] = text.split(/\p{Surrogate}/u);
  return Buffer.concat([Buffer.from(first), ...others.flatMap((part) => [invalidUtf8, Buffer.from(part)])]);
}

const invalidUtf8 = Buffer.of(0xff);
