/** Splits import files into lines and records. */
import { importRecordBytesMax } from '../../domain/limits.js';
import { isBlank, parseJson } from '../../domain/queries/lines.js';
import { failure, type Result, success } from '../../domain/result.js';

const newline = 0x0a;

/** A line of a file without its LF, but with a CR before that. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Undefined if the line is too long. */
  readonly bytes: Buffer | undefined;
}

/**
 * What each chunk of a file has, together: waiting for every line would take as long as reading it.
 */
export type InChunks<T> = AsyncGenerator<readonly T[]>;

/** Splits a stream into lines. Memory use does not depend on the length of lines. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  bytesMax = importRecordBytesMax,
): InChunks<Line> {
  let line = new Span(1, bytesMax);
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      line.add(chunk.subarray(start, end));
      lines.push(line.toLine());
      line = new Span(line.number + 1, bytesMax);
      start = end + 1;
    }
    line.add(chunk.subarray(start));
    yield lines;
  }
  if (!line.isEmpty) yield [line.toLine()];
}

/** A part of a file that may continue in the next chunk. Keeps nothing of one that is too long. */
export class Span {
  /** The line in which it starts. */
  readonly number: number;
  readonly #bytesMax: number;
  /** Undefined if there are too many bytes. */
  #parts: Buffer[] | undefined = [];
  #length = 0;

  constructor(number: number, bytesMax = importRecordBytesMax) {
    this.number = number;
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#length > this.#bytesMax) this.#parts = undefined;
    else if (bytes.length > 0) this.#parts?.push(bytes);
  }

  toLine(): Line {
    const [first, ...more] = this.#parts ?? [];
    const bytes =
      first !== undefined && more.length === 0 ? first : this.#parts && Buffer.concat(this.#parts);
    return { number: this.number, bytes };
  }
}

/** The problem of a line without bytes. */
export const tooLongProblem = `is longer than ${importRecordBytesMax} bytes`;

/** The input of `parseQuery`, the problems of a bad record, or `skipped` for a record that is not a query. */
export type Parsed = Result<unknown> | 'skipped';

/** A record of an import file. */
export interface ImportRecord {
  /** The first line, from 1. */
  readonly line: number;
  readonly value: Parsed;
}

/** Reads one record per line. Ignores blank lines. */
export async function* parseLines(
  chunks: AsyncIterable<Buffer>,
  parse: (bytes: Buffer) => Parsed,
): InChunks<ImportRecord> {
  for await (const lines of readLines(chunks)) {
    const records: ImportRecord[] = [];
    for (const { number, bytes } of lines) {
      if (bytes === undefined) records.push({ line: number, value: failure(tooLongProblem) });
      else if (!isBlank(bytes)) records.push({ line: number, value: parse(bytes) });
    }
    yield records;
  }
}

/** Reads one JSON value per line, and converts it. */
export function readJsonLines(
  chunks: AsyncIterable<Buffer>,
  convert: (value: unknown) => Parsed = success,
): InChunks<ImportRecord> {
  return parseLines(chunks, (bytes) => {
    const json = parseJson(bytes);
    return json.ok ? convert(json.value) : json;
  });
}
