/** Names files that are not text, which no format reads, and makes UTF-8 of UTF-16. */
import { StringDecoder } from 'node:string_decoder';
import { findKind } from './kinds.js';
import { PackedDataError, prepend, takeStart } from './unpack.js';

/** A file that is not text. The message continues a sentence that starts with the file's name. */
export class NotTextError extends Error {
  override readonly name = 'NotTextError';
}

/** Enough for the header of a tar archive. */
const startBytes = 512;

/** The bytes of a text in UTF-8. Throws a `NotTextError`. */
export async function* readText(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const start = await takeStart(bytes, (taken) => taken.length >= startBytes || hasLine(taken));
  const kind = findKind(start.subarray(0, startBytes));
  if (kind?.encoding !== undefined) throw new NotTextError('it is compressed twice; unpack it once');
  if (kind !== undefined) throw new NotTextError(`it is ${kind.what}; ${kind.remedy}`);
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
