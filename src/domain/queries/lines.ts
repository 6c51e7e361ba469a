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
function* decodeInPieces(bytes: Buffer): Generator<string> {
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

/** How large JSON may be: parts are brackets, commas and colons. */
export interface JsonBounds {
  readonly partsMax?: number;
  /** Of each element of an array, or of any other value. */
  readonly itemPartsMax?: number;
  /** The bytes of each: an element is parsed at once. */
  readonly itemBytesMax?: number;
  /** Called with their number before they are parsed. May throw. */
  readonly onParts?: (parts: number) => void;
}

/**
 * Parses JSON, and ignores a byte order mark (RFC 8259, section 8.1). Refuses what is nested deeper than `jsonLevelsMax` or has too many
 * parts, because parsing these takes far longer than other JSON of the same size.
 */
export function parseJson(bytes: Uint8Array, bounds: JsonBounds = {}): Result<unknown> {
  const text = decodeUtf8(bytes);
  if (!text.ok) return text;
  const excess = isSmall(text.value, bounds) ? undefined : finish(findExcess(bytes, bounds));
  return excess === undefined ? parseJsonText(stripByteOrderMark(text.value)) : failure(excess);
}

/** As `parseJson`, in steps. Each parses as many elements of a large array as take a millisecond or two, but any other value at once. */
export function* parseJsonInSteps(bytes: Buffer, bounds: JsonBounds = {}): Steps<Result<unknown>> {
  if (bytes.length <= stepBytes) return parseJson(bytes, bounds);
  if (!isUtf8(bytes)) return failure(notUtf8);
  const commas: number[] = [];
  const excess = yield* findExcess(bytes, bounds, commas);
  if (excess !== undefined) return failure(excess);
  if (commas.length > 0) return yield* parseElements(bytes, commas);
  let text = '';
  for (const piece of decodeInPieces(bytes)) {
    text += piece;
    yield;
  }
  return parseJsonText(stripByteOrderMark(text));
}

/** Parses an array that has a comma between two elements at each of these places. */
function* parseElements(bytes: Buffer, commas: readonly number[]): Steps<Result<unknown>> {
  const elements: unknown[] = [];
  let start = 0;
  for (const end of [...commas, bytes.length]) {
    yield;
    const own = bytes.toString('utf8', start, end);
    const text = `${start === 0 ? stripByteOrderMark(own) : `[${own}`}${end === bytes.length ? '' : ']'}`;
    const before = bytes.subarray(0, start);
    const part = parseJsonText(text, before) as Result<readonly unknown[]>;
    if (!part.ok) return part;
    // There is a comma too many.
    if (part.value.length === 0) return failure(notJson(text, before));
    for (const element of part.value) elements.push(element);
    start = end + 1;
  }
  return success(elements);
}

const nothing = Buffer.alloc(0);

/** `before` is what the body has before the text. */
function parseJsonText(text: string, before: Buffer = nothing): Result<unknown> {
  try {
    return success(JSON.parse(text));
  } catch (error) {
    return failure(describeSecond(text, before, error as Error) ?? notJson(text, before));
  }
}

function notJson(text: string, before: Buffer): string {
  const beginning = before.length === 0 ? text : stripByteOrderMark(before.toString('utf8', 0, stepBytes));
  return `is not JSON: ${quote(beginning.trim())}`;
}

/** Of what has another object or array behind the first value, such as lines of JSON. The parser says where. */
function describeSecond(text: string, before: Buffer, { message }: Error): string | undefined {
  const at = / after JSON at position (\d+)/.exec(message)?.[1];
  const kind = { '{': 'object', '[': 'array' }[text.charAt(Number(at ?? text.length))];
  if (kind === undefined) return undefined;
  const line = 1 + countNewlines(before) + countNewlines(Buffer.from(text.slice(0, Number(at))));
  const place = line === 1 ? '' : `, on line ${line}`;
  return `has a second ${kind} behind the first value${place}; JSON is one value, such as one array`;
}

/** Byte by byte, because other ways take several times as long with millions of line ends. */
function countNewlines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === newline) count++;
  return count;
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

/**
 * Counts, outside of strings, open brackets (levels) and all opening brackets, commas and colons (parts). Adds to `commas` some between
 * elements of an array, so far from each other that what is in between takes a step.
 */
function* findExcess(
  bytes: Uint8Array,
  bounds: JsonBounds,
  commas: number[] = [],
): Steps<string | undefined> {
  const { itemBytesMax = Number.POSITIVE_INFINITY } = bounds;
  const counted: Counted = { levels: 0, parts: 0, partsBefore: 0, itemStart: 0, inArray: false, commas };
  let stepEnd = stepBytes;
  for (let at = 0; at < bytes.length; at++) {
    if (at >= stepEnd) {
      yield;
      stepEnd = at + stepBytes;
    }
    const byte = bytes[at];
    let excess: string | undefined;
    if (byte !== quotationMark) excess = countSign(counted, at, byte, bounds);
    else {
      const start = at;
      at = findStringEnd(bytes, at, itemBytesMax);
      if (at - start > itemBytesMax) excess = tooLarge(itemBytesMax);
    }
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
  /** Where that element begins, or another value. */
  itemStart: number;
  inArray: boolean;
  readonly commas: number[];
}

function tooLarge(itemBytesMax: number): string {
  return `has a value of more than ${itemBytesMax} bytes; send less at a time`;
}

/** Counts one byte outside of strings. Returns a description of what there is too much of. */
function countSign(
  counted: Counted,
  at: number,
  byte: number | undefined,
  bounds: JsonBounds,
): string | undefined {
  const level = levelChange(byte);
  counted.levels += level;
  if (isPart(level, byte)) {
    countPart(counted, at, byte);
    if (level === 1 && counted.levels === itemLevel(counted)) counted.itemStart = at;
    return describeExcess(counted, bounds);
  }
  const { itemBytesMax = Number.POSITIVE_INFINITY } = bounds;
  const isItemEnd = level === -1 && counted.levels === itemLevel(counted) - 1;
  return isItemEnd && at - counted.itemStart > itemBytesMax ? tooLarge(itemBytesMax) : undefined;
}

/** The level in an array or object that is an element of an array, or the whole. */
function itemLevel({ inArray }: Counted): number {
  return inArray ? 2 : 1;
}

function countPart(counted: Counted, at: number, byte: number | undefined): void {
  const { commas, levels } = counted;
  counted.parts++;
  if (levels !== 1) return;
  const isOpened = byte !== comma && byte !== colon;
  if (isOpened) counted.inArray = byte === openBracket;
  if (!counted.inArray) return;
  // The array itself, or the comma before its next element.
  counted.partsBefore = counted.parts;
  if (byte === comma && at - (commas.at(-1) ?? 0) >= stepBytes) commas.push(at);
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

/** The position of the quotation mark that ends a string, which is the next one that is not escaped; or one after `bytesMax`. */
function findStringEnd(bytes: Uint8Array, start: number, bytesMax: number): number {
  const last = Math.min(bytes.length, start + bytesMax + 1);
  // Calling `indexOf` for each of millions of short strings would take twenty times as long.
  for (let at = start + 1; at < last; at++) {
    const byte = bytes[at];
    if (byte === quotationMark) return at;
    if (byte === backslash) at++;
  }
  return last;
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
