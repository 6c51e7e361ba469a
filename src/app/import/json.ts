/**
 * Reads JSON that is not one value per line: arrays, objects that contain one, or a sequence of values, in any layout. Finds
 * only where each record starts and ends, so that `parseJson` reads one record at a time: a bad record does not end the
 * import, as it would with a streaming parser, and memory use depends neither on the file nor on a record.
 */
import { importRecordBytesMax } from '../../domain/limits.js';
import { isWhiteSpace, parseJson, stripByteOrderMark } from '../../domain/queries/lines.js';
import { failure, quote } from '../../domain/result.js';
import { prepend, takeStart } from './file/unpack.js';
import { type ImportRecord, type InChunks, type Line, type Parsed, Span, tooLongProblem } from './records.js';

const newline = 0x0a;
const quotationMark = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
/** UTF-8 of the byte order mark. */
const byteOrderMark = [0xef, 0xbb, 0xbf];

/**
 * Reads the elements of the array at `path`, a list of field names, in each object of the file. With an empty path, the
 * records are the objects of the file, or the elements of an array that contains them.
 */
export async function* readJson(
  chunks: AsyncIterable<Buffer>,
  path: readonly string[],
  convert: (value: unknown) => Parsed,
): InChunks<ImportRecord> {
  const finder = new RecordFinder(path);
  const parse = (found: Iterable<Line | ImportRecord>) =>
    Array.from(found, (one) => parseRecord(one, convert));
  for await (const chunk of chunks) yield parse(finder.take(chunk));
  yield parse(finder.end());
}

/**
 * Whether this is one JSON text instead of one per line: an array or, if the file is named so, anything that does not start
 * with a whole object. Returns all chunks for reading them.
 */
export async function isJsonText(
  chunks: AsyncIterable<Buffer>,
  isNamedJson: boolean,
): Promise<{ isText: boolean; all: AsyncIterable<Buffer> }> {
  const rest = (async function* () {
    yield* chunks;
  })();
  const start = await takeStart(rest, (bytes) => {
    const text = firstLine(bytes);
    return text.startsWith('[') || text.endsWith('\n') || bytes.length > importRecordBytesMax;
  });
  const line = firstLine(start);
  const isText = line.startsWith('[') || (isNamedJson && !parseJson(Buffer.from(line)).ok);
  return { isText, all: prepend(start, rest) };
}

function firstLine(bytes: Buffer): string {
  const text = stripByteOrderMark(bytes.toString('utf8')).trimStart();
  return text.slice(0, text.indexOf('\n') + 1 || text.length);
}

function parseRecord(found: Line | ImportRecord, convert: (value: unknown) => Parsed): ImportRecord {
  if ('value' in found) return found;
  const { number, bytes } = found;
  if (bytes === undefined) return { line: number, value: failure(tooLongProblem) };
  const json = parseJson(bytes);
  return { line: number, value: json.ok ? convert(json.value) : json };
}

/** Follows strings and brackets to find the records, byte by byte. */
class RecordFinder {
  readonly #path: readonly string[];
  #line = 1;
  #inString = false;
  #escaped = false;
  /** Open brackets. */
  #depth = 0;
  /** How many names of the path the open objects match. */
  #matched = 0;
  /** Whether the array of the records is open. */
  #inArray = false;
  #record: Span | undefined;
  /** Where the record or the name starts in this chunk. */
  #start = 0;
  /** The string that is being read, in an object that the path leads through. */
  #name: Span | undefined;
  /** The last string since a comma in such an object: before an array or object, it is the name of the field. */
  #field: string | undefined;
  /** The line of the outermost object that the path leads through, until its array was found. */
  #searchedFrom: number | undefined;

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  /** The records that end in this chunk, and problems. */
  *take(chunk: Buffer): Generator<Line | ImportRecord> {
    this.#start = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (this.#inString) {
        at = this.#followString(chunk, at);
        continue;
      }
      const found = this.#follow(chunk, at);
      if (found !== undefined) yield found;
    }
    (this.#record ?? this.#name)?.add(chunk.subarray(this.#start));
  }

  #follow(chunk: Buffer, at: number): Line | ImportRecord | undefined {
    const byte = chunk[at] as number;
    if (byte === newline) this.#line++;
    if (this.#record === undefined) {
      if (!this.#startsRecord(byte)) return this.#walk(byte, at);
      this.#record = new Span(this.#line);
      this.#start = at;
    }
    const end = this.#findEnd(byte);
    if (end === undefined) return undefined;
    this.#record.add(chunk.subarray(this.#start, end === 'after' ? at + 1 : at));
    const line = this.#record.toLine();
    this.#record = undefined;
    if (end === 'before') this.#walk(byte, at);
    return line;
  }

  /** What is left when the file ends. */
  *end(): Generator<Line | ImportRecord> {
    const record = this.#record;
    const isComplete = this.#depth === this.#outerDepth;
    if (record !== undefined && isComplete) yield record.toLine();
    if (this.#depth > 0) {
      const line = record === undefined || isComplete ? this.#line : record.number;
      yield { line, value: failure('the file ends before its last bracket is closed') };
    }
  }

  /** The depth around records. */
  get #outerDepth(): number {
    return this.#inArray ? this.#path.length + 1 : 0;
  }

  /** Returns the position of the quotation mark that ends the string, or the length of the chunk. */
  #followString(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at];
      if (this.#escaped) this.#escaped = false;
      else if (byte === backslash) this.#escaped = true;
      else if (byte === quotationMark) {
        this.#inString = false;
        if (this.#name !== undefined) this.#endName(this.#name, chunk.subarray(this.#start, at + 1));
        return at;
      }
    }
    return chunk.length;
  }

  #endName(name: Span, bytes: Buffer): void {
    name.add(bytes);
    const line = name.toLine();
    const json = line.bytes === undefined ? undefined : parseJson(line.bytes);
    this.#field = json?.ok && typeof json.value === 'string' ? json.value : undefined;
    this.#name = undefined;
  }

  #startsRecord(byte: number): boolean {
    if (isWhiteSpace(byte)) return false;
    if (this.#inArray) return byte !== comma && byte !== closeBracket;
    if (this.#depth > 0 || byteOrderMark.includes(byte)) return false;
    return byte !== (this.#path.length === 0 ? openBracket : openBrace);
  }

  /** Follows a record. Returns whether it ends before or after this byte. */
  #findEnd(byte: number): 'before' | 'after' | undefined {
    const isOuter = this.#depth === this.#outerDepth;
    if (byte === quotationMark) this.#inString = true;
    else if (isOuter && (this.#inArray ? byte === comma || byte === closeBracket : byte === newline)) {
      return 'before';
    } else if (isOpening(byte)) this.#depth++;
    else if (isClosing(byte)) {
      // A bracket too many is part of a bad record.
      if (!isOuter) this.#depth--;
      if (!this.#inArray && this.#depth === 0) return 'after';
    }
    return undefined;
  }

  /** Follows what is around records. Returns a problem of an object that the path leads through. */
  #walk(byte: number, at: number): ImportRecord | undefined {
    const isOnPath = !this.#inArray && this.#depth === this.#matched + 1;
    if (byte === quotationMark) {
      this.#inString = true;
      if (isOnPath) {
        this.#name = new Span(this.#line);
        this.#start = at;
      }
    } else if (byte === comma && isOnPath) this.#field = undefined;
    else if (isOpening(byte)) return this.#open(byte, isOnPath);
    else if (isClosing(byte)) return this.#close();
    return undefined;
  }

  #open(byte: number, isOnPath: boolean): ImportRecord | undefined {
    this.#depth++;
    if (this.#depth === 1) {
      if (byte === openBracket) this.#inArray = true;
      else this.#searchedFrom = this.#line;
    } else if (isOnPath && this.#field === undefined) {
      // Otherwise, elements behind a misplaced bracket would be overlooked.
      return { line: this.#line, value: failure('has a value without a name') };
    } else if (isOnPath && this.#field === this.#path[this.#matched]) {
      const isLast = this.#matched + 1 === this.#path.length;
      if (byte === openBracket && isLast) {
        this.#inArray = true;
        this.#searchedFrom = undefined;
      } else if (byte === openBrace && !isLast) this.#matched++;
    }
    return undefined;
  }

  #close(): ImportRecord | undefined {
    this.#inArray = false;
    this.#depth--;
    this.#field = undefined;
    if (this.#depth > 0 && this.#depth === this.#matched) this.#matched--;
    if (this.#depth > 0 || this.#searchedFrom === undefined) return undefined;
    const line = this.#searchedFrom;
    this.#searchedFrom = undefined;
    return { line, value: failure(`has no array ${quote(this.#path.join('.'))}`) };
  }
}

function isOpening(byte: number): boolean {
  return byte === openBrace || byte === openBracket;
}

function isClosing(byte: number): boolean {
  return byte === closeBrace || byte === closeBracket;
}
