/** Reading lines of text: splitting, decoding, parsing JSON, and ids for lines of a log. */
import { isUtf8 } from 'node:buffer';
import { createHash, createHmac } from 'node:crypto';
import { finish, type Steps } from '../../shared/steps.js';
import { identicalLinesKept, jsonLevelsMax, jsonPartsMax } from '../limits.js';
import { failure, quote, type Result, success } from '../result.js';

const newline = 0x0a;
const carriageReturn = 0x0d;
const quotationMark = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;

/** Scanning this many bytes takes about a millisecond. */
const stepBytes = 128 * 1024;

/**
 * Splits a text into its lines (LF or CRLF), without leading white space and without blank lines. Undefined after each `stepBytes` of white
 * space: whoever reads a body that consists of it can pause.
 */
export function* nonBlankLines(bytes: Uint8Array): Generator<Uint8Array | undefined> {
  let start = 0;
  let blanks = 0;
  while (true) {
    for (; isWhiteSpace(bytes[start]); start++) if (++blanks % stepBytes === 0) yield undefined;
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

export function isBlank(line: Uint8Array): boolean {
  return line.every(isWhiteSpace);
}

/** White space of JSON (RFC 8259, section 2). */
export function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === newline || byte === carriageReturn;
}

const notUtf8 = 'is not valid UTF-8';

/** Decodes UTF-8. Refuses invalid bytes, because replacing them could turn two different ids into the same. */
export function decodeUtf8(bytes: Uint8Array): Result<string> {
  if (!isUtf8(bytes)) return failure(notUtf8);
  const buffer = Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return success(buffer.toString('utf8'));
}

/** How many bytes are decoded at a time. Takes a few milliseconds for any text. */
const decodedBytes = 256 * 1024;

/** Decodes UTF-8 in pieces, so that the event loop can do other work between them. */
export function* decodeInPieces(bytes: Buffer): Generator<string> {
  if (bytes.length <= decodedBytes) {
    yield bytes.toString('utf8');
    return;
  }
  // A byte order mark stays, as in `toString`.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (let at = 0; at < bytes.length; at += decodedBytes)
    yield decoder.decode(bytes.subarray(at, at + decodedBytes), { stream: true });
  yield decoder.decode();
}

export function stripByteOrderMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** How many brackets, commas and colons JSON may have. */
export interface JsonBounds {
  readonly partsMax?: number;
  /** Of each element of an array, or of any other value. */
  readonly itemPartsMax?: number;
  /** Called with their number before they are parsed. May throw. */
  readonly onParts?: (parts: number) => void;
}

/** Parses JSON as `decodeJsonInSteps` and `parseJsonText`, at once. */
export function parseJson(bytes: Uint8Array, bounds: JsonBounds = {}): Result<unknown> {
  const text = decodeUtf8(bytes);
  if (!text.ok) return text;
  const excess = isSmall(text.value, bounds) ? undefined : finish(findExcess(bytes, bounds));
  return excess === undefined ? parseJsonText(stripByteOrderMark(text.value)) : failure(excess);
}

/**
 * Decodes JSON for `parseJsonText`, and ignores a byte order mark (RFC 8259, section 8.1). Refuses what is nested deeper than
 * `jsonLevelsMax` or has too many parts, because parsing these takes far longer than other JSON of the same size.
 */
export function* decodeJsonInSteps(bytes: Buffer, bounds: JsonBounds = {}): Steps<Result<string>> {
  if (!isUtf8(bytes)) return failure(notUtf8);
  let text = '';
  for (const piece of decodeInPieces(bytes)) {
    if (text !== '') yield;
    text += piece;
  }
  const excess = isSmall(text, bounds) ? undefined : yield* findExcess(bytes, bounds);
  return excess === undefined ? success(stripByteOrderMark(text)) : failure(excess);
}

/** Parses what `decodeJsonInSteps` returned. */
export function parseJsonText(text: string): Result<unknown> {
  try {
    return success(JSON.parse(text));
  } catch (error) {
    return failure(describeSecond(text, error as Error) ?? `is not JSON: ${quote(text.trim())}`);
  }
}

/** Of what has another object or array behind the first value, such as lines of JSON. The parser says where. */
function describeSecond(text: string, { message }: Error): string | undefined {
  const at = / after JSON at position (\d+)/.exec(message)?.[1];
  const kind = { '{': 'object', '[': 'array' }[text.charAt(Number(at ?? text.length))];
  if (kind === undefined) return undefined;
  const line = text.slice(0, Number(at)).split('\n').length;
  const place = line === 1 ? '' : `, on line ${line}`;
  return `has a second ${kind} behind the first value${place}; JSON is one value, such as one array`;
}

/** Whether a text has too few characters for an excess of parts, and too few brackets for one of levels. */
function isSmall(
  text: string,
  { partsMax = jsonPartsMax, itemPartsMax = partsMax, onParts }: JsonBounds,
): boolean {
  if (onParts !== undefined || text.length > Math.min(partsMax, itemPartsMax)) return false;
  let brackets = 0;
  for (const bracket of '[{') {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      if (++brackets > jsonLevelsMax) return false;
    }
  }
  return true;
}

/** Counts, outside of strings, open brackets (levels) and all opening brackets, commas and colons (parts). */
function* findExcess(bytes: Uint8Array, bounds: JsonBounds): Steps<string | undefined> {
  const counted: Counted = { levels: 0, parts: 0, partsBefore: 0, inArray: false };
  let stepEnd = stepBytes;
  for (let at = 0; at < bytes.length; at++) {
    if (at >= stepEnd) {
      yield;
      stepEnd = at + stepBytes;
    }
    const byte = bytes[at];
    if (byte === quotationMark) at = findStringEnd(bytes, at);
    const level = levelChange(byte);
    counted.levels += level;
    if (!isPart(level, byte)) continue;
    countPart(counted, level === 1, byte);
    const excess = describeExcess(counted, bounds);
    if (excess !== undefined) return excess;
  }
  bounds.onParts?.(counted.parts);
  return undefined;
}

interface Counted {
  levels: number;
  parts: number;
  /** Of the array whose element is counted, up to that. */
  partsBefore: number;
  inArray: boolean;
}

function countPart(counted: Counted, isOpened: boolean, byte: number | undefined): void {
  counted.parts++;
  if (counted.levels !== 1) return;
  if (isOpened) counted.inArray = byte === openBracket;
  // The array itself, or the comma before its next element.
  if (counted.inArray) counted.partsBefore = counted.parts;
}

function isPart(level: number, byte: number | undefined): boolean {
  return level === 1 || byte === comma || byte === colon;
}

function describeExcess(
  { levels, parts, partsBefore }: Counted,
  { partsMax = jsonPartsMax, itemPartsMax = partsMax }: JsonBounds,
): string | undefined {
  if (levels > jsonLevelsMax) return `is nested more than ${jsonLevelsMax} levels deep`;
  if (parts > partsMax) return excessOf(partsMax);
  if (parts - partsBefore > itemPartsMax)
    return `has a value with more than ${itemPartsMax} brackets, commas and colons`;
  return undefined;
}

/** What is wrong with JSON that has more parts. */
export function excessOf(partsMax: number): string {
  return `has more than ${partsMax} brackets, commas and colons; send less at a time`;
}

/** 1 for [ and {, -1 for ] and }, 0 for anything else. */
function levelChange(byte: number | undefined): number {
  if (byte === openBracket || byte === 0x7b) return 1;
  return byte === 0x5d || byte === 0x7d ? -1 : 0;
}

/** The position of the quotation mark that ends a string: the next one that is not escaped. */
function findStringEnd(bytes: Uint8Array, start: number): number {
  // Calling `indexOf` for each of millions of short strings would take twenty times as long.
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quotationMark) return at;
    if (byte === backslash) at++;
  }
  return bytes.length;
}

/** What ids of lines are made with, besides the line. */
export interface IdOrigin {
  /** Of an HMAC. */
  readonly key?: Uint8Array | undefined;
  readonly source?: string | undefined;
}

/**
 * Makes ids for the lines of one log file, in order. An id depends only on the line and the source, so reading a file again,
 * or another file that overlaps it, makes the same ids. The second, third … identical line of a file gets an id of its own.
 * These ids must never change between releases, or importing a file again would count its queries twice.
 *
 * An id is a version 8 UUID (RFC 9562, section 5.8) with 122 bits of the line's SHA-256, or of its HMAC if there is a key.
 * Without the key, nobody can find the line of an id by trying.
 */
export class LineIds {
  readonly #key: Uint8Array | undefined;
  readonly #source: string | undefined;
  /** How often each line occurred, oldest first. Bounded, because identical lines have the same time and are close together. */
  readonly #seen = new Map<string, number>();

  /** `source` tells the servers apart whose logs have identical lines. */
  constructor({ key, source }: IdOrigin = {}) {
    this.#key = key;
    this.#source = source;
  }

  /** The id of the next line, given without its line ending. */
  next(line: Uint8Array): string {
    const first = this.#makeId(line);
    const times = (this.#seen.get(first) ?? 0) + 1;
    this.#seen.delete(first);
    this.#seen.set(first, times);
    if (this.#seen.size > identicalLinesKept) this.#forgetOldest();
    // A line never contains a line ending, so no other line has this id.
    if (this.#source !== undefined) return this.#makeId(line, `\n${times}\n${this.#source}`);
    return times === 1 ? first : this.#makeId(line, `\n${times}`);
  }

  #makeId(line: Uint8Array, times = ''): string {
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
