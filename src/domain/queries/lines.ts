/** Reading lines of text: splitting, decoding, parsing JSON, and ids for lines of a log. */
import { isUtf8 } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import { identicalLinesKept, jsonLevelsCountedBytesMin, jsonLevelsMax, jsonPartsMax } from '../limits.js';
import { failure, quote, type Result, success } from '../result.js';

const newline = 0x0a;
const carriageReturn = 0x0d;
const quotationMark = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

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
export function stripByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/**
 * A JSON value from its bytes. A byte order mark before it is passed over (RFC 8259, section 8.1, allows that). What is
 * nested deeper than `jsonLevelsMax`, or has more parts than `partsMax`, is refused where it is long: parsing millions of
 * either takes seconds.
 */
export function parseJson(bytes: Uint8Array, partsMax = jsonPartsMax): Result<unknown> {
  const text = decodeUtf8(bytes);
  if (!text.ok) return text;
  const excess = bytes.length >= jsonLevelsCountedBytesMin ? excessOf(bytes, partsMax) : undefined;
  if (excess !== undefined) return failure(excess);
  try {
    return success(JSON.parse(stripByteOrderMark(text.value)));
  } catch {
    return failure(`is not JSON: ${quote(text.value.trim())}`);
  }
}

/** What there is too much of, outside of strings: brackets that nothing closed yet, or opening brackets, commas and colons in all. */
function excessOf(bytes: Uint8Array, partsMax: number): string | undefined {
  let levels = 0;
  let parts = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quotationMark) at = endOfString(bytes, at);
    const level = levelOf(byte);
    levels += level;
    if (level === 1 || byte === comma || byte === colon) parts++;
    if (levels > jsonLevelsMax) return `is nested more than ${jsonLevelsMax} levels deep`;
    if (parts > partsMax) return `has more than ${partsMax} brackets, commas and colons; send less at a time`;
  }
  return undefined;
}

/** 1 for [ and {, -1 for ] and }, 0 for anything else. */
function levelOf(byte: number | undefined): number {
  if (byte === 0x5b || byte === 0x7b) return 1;
  return byte === 0x5d || byte === 0x7d ? -1 : 0;
}

/** Where the quotation mark is that ends a string: the next that no backslash escapes. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (
    let at = bytes.indexOf(quotationMark, start + 1);
    at !== -1;
    at = bytes.indexOf(quotationMark, at + 1)
  ) {
    let escapes = 0;
    while (bytes[at - 1 - escapes] === backslash) escapes++;
    if (escapes % 2 === 0) return at;
  }
  return bytes.length;
}

/**
 * The ids of one file's lines, in order. A line has the same id whatever stands around it, so a file that is read again, or
 * overlaps another, gives the same ids. Of lines that are the same, the first has one id, the second another, and so on.
 *
 * An id is a UUID of version 8 (RFC 9562, section 5.8): 122 bits of the line's SHA-256, or with a key of its HMAC. Without
 * the key nobody can find out, by trying, what line an id was made of.
 */
export class LineIds {
  readonly #key: Uint8Array | undefined;
  /** How often each line was seen, oldest first. Bounded: lines that are the same stand close together, by their time. */
  readonly #seen = new Map<string, number>();

  constructor(key?: Uint8Array) {
    this.#key = key;
  }

  /** `line` is without its end. */
  next(line: Uint8Array): string {
    const first = this.#idOf(line);
    const times = (this.#seen.get(first) ?? 0) + 1;
    this.#seen.delete(first);
    this.#seen.set(first, times);
    if (this.#seen.size > identicalLinesKept) this.#forgetOldest();
    // No line has a line end in it, so this is no other line's id.
    return times === 1 ? first : this.#idOf(line, `\n${times}`);
  }

  #idOf(line: Uint8Array, times = ''): string {
    const hash = this.#key === undefined ? createHash('sha256') : createHmac('sha256', this.#key);
    const bytes = hash.update(line).update(times).digest().subarray(0, 16);
    bytes[6] = 0x80 | ((bytes[6] ?? 0) & 0x0f);
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  }

  #forgetOldest(): void {
    const [oldest] = this.#seen.keys();
    if (oldest !== undefined) this.#seen.delete(oldest);
  }
}
