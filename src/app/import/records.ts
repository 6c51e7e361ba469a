/** Splits import files into lines and records. */
import { lineBytesMax } from '../../domain/limits.js';
import { isBlank, parseJson } from '../../domain/queries/lines.js';
import { failure, type Result } from '../../domain/result.js';

const newline = 0x0a;

/** A line of a file without its LF, but with a CR before that. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Undefined if the line is longer than `lineBytesMax`. */
  readonly bytes: Buffer | undefined;
}

/** Splits a stream into lines. Memory use does not depend on the length of lines. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  let skipping = false;
  const toLine = (bytes: Buffer): Line => {
    number++;
    const tooLong = skipping || bytes.length > lineBytesMax;
    skipping = false;
    return { number, bytes: tooLong ? undefined : bytes };
  };
  for await (const chunk of chunks) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = all.indexOf(newline); end !== -1; end = all.indexOf(newline, start)) {
      yield toLine(all.subarray(start, end));
      start = end + 1;
    }
    rest = all.subarray(start);
    if (rest.length > lineBytesMax) {
      skipping = true;
      rest = Buffer.alloc(0);
    }
  }
  if (skipping || rest.length > 0) yield toLine(rest);
}

/** The problem of a line without bytes. */
export const tooLongProblem = `is longer than ${lineBytesMax} bytes`;

/** A record of an import file. */
export interface ImportRecord {
  /** The first line, from 1. */
  readonly line: number;
  /** The input of `parseQuery`, the record's problems, or `skipped` for records that are not queries. */
  readonly value: Result<unknown> | 'skipped';
}

interface JsonLine extends ImportRecord {
  readonly value: Result<unknown>;
}

/** Reads one JSON value per line. Ignores blank lines. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonLine> {
  for await (const { number, bytes } of readLines(chunks)) {
    if (bytes === undefined) yield { line: number, value: failure(tooLongProblem) };
    else if (!isBlank(bytes)) yield { line: number, value: parseJson(bytes) };
  }
}
