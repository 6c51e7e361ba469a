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

/** Splits a stream into lines. Memory use does not depend on the length of lines. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  bytesMax = importRecordBytesMax,
): AsyncGenerator<Line> {
  let number = 0;
  let rest: Buffer = Buffer.alloc(0);
  let skipping = false;
  const toLine = (bytes: Buffer): Line => {
    number++;
    const tooLong = skipping || bytes.length > bytesMax;
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
    if (rest.length > bytesMax) {
      skipping = true;
      rest = Buffer.alloc(0);
    }
  }
  if (skipping || rest.length > 0) yield toLine(rest);
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
): AsyncGenerator<ImportRecord> {
  for await (const { number, bytes } of readLines(chunks)) {
    if (bytes === undefined) yield { line: number, value: failure(tooLongProblem) };
    else if (!isBlank(bytes)) yield { line: number, value: parse(bytes) };
  }
}

/** Reads one JSON value per line, and converts it. */
export function readJsonLines(
  chunks: AsyncIterable<Buffer>,
  convert: (value: unknown) => Parsed = success,
): AsyncGenerator<ImportRecord> {
  return parseLines(chunks, (bytes) => {
    const json = parseJson(bytes);
    return json.ok ? convert(json.value) : json;
  });
}
