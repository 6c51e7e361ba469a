import { isUtf8 } from 'node:buffer';
import { failure, quote, type Result, success } from './result.js';

const newline = 0x0a;
const carriageReturn = 0x0d;

/**
 * The lines of a whole text in bytes that have anything but white space, from their first other byte to their end
 * (LF or CRLF). Blank lines cost next to nothing, so that a body made of millions of them holds nobody up.
 */
export function* nonBlankLines(bytes: Uint8Array): Generator<Uint8Array> {
  let start = 0;
  while (true) {
    while (isWhiteSpace(bytes[start])) start++;
    if (start >= bytes.length) return;
    const at = bytes.indexOf(newline, start);
    const end = at === -1 ? bytes.length : at;
    yield trimEnd(bytes.subarray(start, end));
    start = end + 1;
  }
}

/** A line without the CR that ends it. */
export function trimEnd(line: Uint8Array): Uint8Array {
  return line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;
}

/** Whether the line has nothing but white space; such lines are passed over. */
export function isBlank(line: Uint8Array): boolean {
  return line.every(isWhiteSpace);
}

/** White space of JSON (RFC 8259, section 2). */
function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === newline || byte === carriageReturn;
}

/**
 * Text of bytes that are UTF-8. Others are refused, not replaced: two different broken ids would become the same
 * replacement characters, and so one query.
 */
export function decodeUtf8(bytes: Uint8Array): Result<string> {
  if (!isUtf8(bytes)) return failure('is not valid UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return success(text);
}

/** A text without the byte order mark that it may begin with. */
export function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** A JSON value from its bytes. A byte order mark before it is passed over (RFC 8259, section 8.1, allows that). */
export function parseJson(bytes: Uint8Array): Result<unknown> {
  const text = decodeUtf8(bytes);
  if (!text.ok) return text;
  try {
    return success(JSON.parse(withoutMark(text.value)));
  } catch {
    return failure(`is not JSON: ${quote(text.value.trim())}`);
  }
}
