/** From the bytes of an import file to its records, one by one, in flat memory. What a record means is not known here. */
import { isBlank, parseJson } from '../../domain/queries/lines.js';
import { failure, type Result } from '../../domain/result.js';
import { readLines, tooLongProblem } from './lines.js';

/** One record and where it stands. */
export interface ImportRecord {
  /** The line it begins on, from 1. */
  readonly line: number;
  /** The input of `parseQuery`; what is wrong with the record; or that it is none of those that are asked for. */
  readonly value: Result<unknown> | 'skipped';
}

interface JsonLine {
  /** From 1. */
  readonly line: number;
  readonly value: Result<unknown>;
}

/** One JSON value a line. Blank lines are passed over. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonLine> {
  for await (const { number, bytes } of readLines(chunks)) {
    if (bytes === undefined) yield { line: number, value: failure(tooLongProblem) };
    else if (!isBlank(bytes)) yield { line: number, value: parseJson(bytes) };
  }
}
