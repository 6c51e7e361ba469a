/** Splits JSON into values as it arrives, without parsing those that nobody reads. */
import { isUtf8 } from 'node:buffer';
import { otlpRecordLevelsMax, otlpRecordPartsMax, otlpTextBytesMax } from '../../domain/limits.js';
import { isWhiteSpace } from '../../domain/queries/lines.js';
import { Arriving, type Reading } from './arriving.js';
import { UNREADABLE } from './signals.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const UNICODE = 0x75;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = { array: 0x5b, object: 0x7b } as const;
const CLOSE = { array: 0x5d, object: 0x7d } as const;

/** How much of a value is parsed at once. Takes some milliseconds, whatever it consists of. */
const atOnceBytes = 256 * 1024;

/** The text is not JSON. */
export class SyntaxProblem extends Error {}

/** A value that is JSON, but too large to be parsed. */
export class ExcessProblem extends RangeError {}

export class JsonValues {
  readonly #arriving: Arriving;
  /** Bytes that were parsed in this turn of the event loop. */
  #sinceTurn = 0;

  constructor(arriving: Arriving) {
    this.#arriving = arriving;
  }

  /** The first byte of the next value or sign; undefined at the end. */
  *peek(): Reading<number | undefined> {
    const arriving = this.#arriving;
    do {
      while (isWhiteSpace(arriving.bytes[arriving.at])) arriving.at++;
      if (arriving.available > 0) return arriving.bytes[arriving.at];
    } while (yield* arriving.hasMore());
    return undefined;
  }

  *isNext(kind: keyof typeof OPEN): Reading<boolean> {
    return (yield* this.peek()) === OPEN[kind];
  }

  /** Reads the members of an object. `read` must read the value of each. */
  *object(read: (name: string) => Reading): Reading {
    yield* this.#list('object', function* (this: JsonValues) {
      if ((yield* this.peek()) !== QUOTE) throw new SyntaxProblem();
      const name = yield* this.value(otlpTextBytesMax);
      yield* this.#expect(COLON);
      yield* read(name as string);
    });
  }

  /** Reads the items of an array. `read` must read each. */
  *array(read: (at: number) => Reading): Reading {
    let at = 0;
    yield* this.#list('array', () => read(at++));
  }

  *#list(kind: keyof typeof OPEN, read: () => Reading): Reading {
    yield* this.#expect(OPEN[kind]);
    if ((yield* this.peek()) === CLOSE[kind]) return this.#pass();
    while (true) {
      yield* read.call(this);
      yield* this.#arriving.step();
      if ((yield* this.peek()) === CLOSE[kind]) return this.#pass();
      yield* this.#expect(COMMA);
    }
  }

  #pass(): void {
    this.#arriving.at++;
  }

  *#expect(byte: number): Reading {
    if ((yield* this.peek()) !== byte) throw new SyntaxProblem();
    this.#pass();
  }

  /** Parses the next value. One that is too large is passed over, and `ExcessProblem` thrown. */
  *value(bytesMax: number): Reading<unknown> {
    const scan = new ValueScan();
    yield* this.#scan(scan, bytesMax);
    if (scan.bytes > bytesMax) throw new ExcessProblem(`is longer than ${bytesMax} bytes`);
    if (scan.levels > otlpRecordLevelsMax)
      throw new ExcessProblem(`is nested more than ${otlpRecordLevelsMax} levels deep`);
    if (scan.parts > otlpRecordPartsMax)
      throw new ExcessProblem(`has more than ${otlpRecordPartsMax} brackets, commas and colons`);
    const bytes = Buffer.concat(scan.pieces);
    if (bytes.length <= atOnceBytes) return parse(bytes);
    const arriving = new Arriving();
    arriving.add(bytes);
    arriving.end();
    return yield* new JsonValues(arriving).#parts();
  }

  /** Parses the next value part by part, with turns in between. It has arrived. */
  *#parts(): Reading<unknown> {
    if (yield* this.isNext('array')) {
      const items: unknown[] = [];
      yield* this.array(() => this.#part((item) => items.push(item)));
      return items;
    }
    if (yield* this.isNext('object')) {
      const members: [string, unknown][] = [];
      yield* this.object((name) => this.#part((value) => members.push([name, value])));
      return Object.fromEntries(members);
    }
    const { bytes, at } = this.#arriving;
    if (bytes[at] === QUOTE) return yield* this.#text();
    this.#arriving.at = new ValueScan().advance(bytes, at);
    return parse(bytes.subarray(at, this.#arriving.at));
  }

  *#part(add: (value: unknown) => void): Reading {
    add(yield* this.#parts());
  }

  *#text(): Reading<string> {
    const { bytes, at: start } = this.#arriving;
    const mark = bytes.subarray(start, start + 1);
    let text = '';
    let at = start + 1;
    do {
      const end = endOfCharacters(bytes, at, atOnceBytes);
      text += parse(Buffer.concat([mark, bytes.subarray(at, end), mark])) as string;
      yield* this.#turnAfter(end - at);
      at = end;
    } while (bytes[at] !== QUOTE);
    this.#arriving.at = at + 1;
    return text;
  }

  *#turnAfter(bytes: number): Reading {
    this.#sinceTurn += bytes;
    if (this.#sinceTurn < atOnceBytes) return;
    this.#sinceTurn = 0;
    yield* this.#arriving.turn();
  }

  /** Passes over the next value. */
  skip(): Reading {
    return this.#scan(new ValueScan(), 0);
  }

  *#scan(scan: ValueScan, bytesMax: number): Reading {
    if ((yield* this.peek()) === undefined) throw new SyntaxProblem();
    while (!scan.hasEnded) {
      if (!(yield* this.#arriving.hasMore())) {
        // Only a number ends with the text.
        if (!scan.isScalar) throw new SyntaxProblem();
        return;
      }
      const { bytes, at } = this.#arriving;
      const end = scan.advance(bytes, at);
      scan.bytes += end - at;
      if (scan.bytes <= bytesMax) scan.pieces.push(bytes.subarray(at, end));
      else scan.pieces.length = 0;
      this.#arriving.kept = scan.pieces.length === 0 ? 0 : scan.bytes;
      this.#arriving.at = end;
    }
    if (scan.bytes === 0) throw new SyntaxProblem();
  }
}

/** How much of a value has been passed. */
class ValueScan {
  readonly pieces: Buffer[] = [];
  bytes = 0;
  levels = 0;
  parts = 0;
  hasEnded = false;
  isScalar = false;
  #level = 0;
  #isInText = false;
  #isEscaped = false;

  /** Goes on at `from`. Returns the end of the value, or of the bytes. */
  advance(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && !this.hasEnded) {
      if (this.#isInText) at = this.#endOfText(bytes, at);
      else if (this.#sees(bytes[at])) at++;
      else break;
    }
    return at;
  }

  /** Returns whether the byte belongs to the value. */
  #sees(byte: number | undefined): boolean {
    const begins = byte === QUOTE || byte === OPEN.array || byte === OPEN.object;
    // A number or a word ends where anything else begins.
    if (this.#level === 0 && (begins ? this.isScalar : isSign(byte))) return this.#end();
    if (byte === QUOTE) this.#isInText = true;
    else if (begins) this.#open();
    else if (this.#level === 0) this.isScalar = true;
    else if (byte === COMMA || byte === COLON) this.parts++;
    else if (isClose(byte)) this.hasEnded = --this.#level === 0;
    return true;
  }

  #open(): void {
    this.#level++;
    this.parts++;
    this.levels = Math.max(this.levels, this.#level);
  }

  #end(): false {
    this.hasEnded = true;
    return false;
  }

  /** The place behind the quotation mark that ends the text: the next one that is not escaped. */
  #endOfText(bytes: Buffer, from: number): number {
    let at = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) {
        this.#isInText = false;
        this.hasEnded = this.#level === 0;
        return at + 1;
      }
    }
    this.#isEscaped = at > bytes.length;
    return bytes.length;
  }
}

function isClose(byte: number | undefined): boolean {
  return byte === CLOSE.array || byte === CLOSE.object;
}

/** Whether the byte ends a number or a word. */
function isSign(byte: number | undefined): boolean {
  return isClose(byte) || byte === COMMA || byte === COLON || isWhiteSpace(byte);
}

/** The end of a text, or the end of the character that reaches so many bytes. */
function endOfCharacters(bytes: Buffer, start: number, bytesMin: number): number {
  let at = start;
  while (at < start + bytesMin && bytes[at] !== QUOTE) {
    if (bytes[at] !== BACKSLASH) at++;
    else at += bytes[at + 1] === UNICODE ? 6 : 2;
  }
  // Of UTF-8, at most three bytes continue a character.
  for (const end = at + 3; at < end && ((bytes[at] ?? 0) & 0xc0) === 0x80; ) at++;
  return at;
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(decode(bytes));
  } catch {
    throw new SyntaxProblem();
  }
}

/**
 * Invalid bytes make the text that contains them unreadable: each becomes U+FFFD, which is then marked. They are not valid outside of
 * texts.
 */
function decode(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return isUtf8(bytes) ? text : markInvalid(text);
}

/** In bytes, because marking a string takes a hundred times as long. */
function markInvalid(text: string): string {
  const mark = UNREADABLE.charCodeAt(0);
  const [low, high] = [mark & 0xff, mark >> 8];
  const units = Buffer.from(text, 'utf16le');
  // Byte by byte, because `readUInt16LE` takes four times as long.
  for (let at = 0; at < units.length; at += 2) {
    if (units[at] !== 0xfd || units[at + 1] !== 0xff) continue;
    units[at] = low;
    units[at + 1] = high;
  }
  return units.toString('utf16le');
}
