/** From the bytes of an import file to its records, one by one, in flat memory. What a record means is not known here. */
import { pipeline, Readable } from 'node:stream';
import { type Info, parse } from 'csv-parse';
import { CallerStatsError } from '../../domain/errors.js';
import { importLineBytesMax } from '../../domain/limits.js';
import { isBlank, parseJson, trimEnd } from '../../domain/lines.js';
import { unknownName } from '../../domain/nearest.js';
import { QUERY_FIELDS } from '../../domain/query.js';
import { failure, type Result, success } from '../../domain/result.js';

export const FORMATS = ['ndjson', 'csv'] as const;

export type Format = (typeof FORMATS)[number];

/** One record and where it stands. */
export interface ImportRecord {
  /** The line it stands on, from 1; for CSV the one it ends on. */
  readonly line: number;
  readonly value: Result<unknown>;
}

/** What a file's name says of its format; NDJSON where it says nothing. */
export function formatOf(name: string): Format {
  return /\.csv(\.gz)?$/i.test(name) ? 'csv' : 'ndjson';
}

export function readRecords(bytes: AsyncIterable<Buffer>, format: Format): AsyncGenerator<ImportRecord> {
  return format === 'csv' ? readCsv(bytes) : readNdjson(bytes);
}

const newline = 0x0a;

async function* readNdjson(bytes: AsyncIterable<Buffer>): AsyncGenerator<ImportRecord> {
  let line = 0;
  for await (const text of readLines(bytes)) {
    line++;
    if (text === 'too long') yield { line, value: failure(`is longer than ${importLineBytesMax} bytes`) };
    else if (!isBlank(text)) yield { line, value: parseJson(text) };
  }
}

/** Lines as bytes; of one over the limit, nothing is kept but that it was there. */
async function* readLines(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer | 'too long'> {
  let rest: Buffer = Buffer.alloc(0);
  let skipping = false;
  for await (const chunk of bytes) {
    const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = all.indexOf(newline); end !== -1; end = all.indexOf(newline, start)) {
      const line = all.subarray(start, end);
      yield skipping || line.length > importLineBytesMax ? 'too long' : (trimEnd(line) as Buffer);
      skipping = false;
      start = end + 1;
    }
    rest = all.subarray(start);
    if (rest.length > importLineBytesMax) {
      skipping = true;
      rest = Buffer.alloc(0);
    }
  }
  if (skipping) yield 'too long';
  else if (rest.length > 0) yield trimEnd(rest) as Buffer;
}

/** Columns by their names in the first line. An empty `occurredAt` is one left out. */
async function* readCsv(bytes: AsyncIterable<Buffer>): AsyncGenerator<ImportRecord> {
  const skipped: ImportRecord[] = [];
  const parser = parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: importLineBytesMax,
    on_skip: (error) => {
      skipped.push({ line: Number(error?.['lines']), value: failure(`is not valid CSV: ${error?.message}`) });
      return undefined;
    },
  });
  // Errors on the way come out of the parser as well, which is where they are waited for.
  pipeline(Readable.from(decoded(bytes)), parser, () => {});
  let columns: readonly string[] | undefined;
  for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: Info }>) {
    yield* skipped.splice(0);
    if (columns === undefined) {
      const problems = headerProblems(record);
      if (problems.length > 0) {
        yield { line: info.lines, value: failure(...problems) };
        return;
      }
      columns = record;
    } else {
      yield { line: info.lines, value: success(toFields(columns, record)) };
    }
  }
  yield* skipped.splice(0);
}

/** Bytes that are no UTF-8 are refused, not replaced: see `decodeUtf8`. */
async function* decoded(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
    yield decoder.decode();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw new CallerStatsError('invalid', 'The CSV has bytes that are not valid UTF-8.', { cause: error });
  }
}

function headerProblems(columns: readonly string[]): string[] {
  const missing = ['id', 'caller'].filter((name) => !columns.includes(name));
  return [
    ...columns
      .filter((name) => !QUERY_FIELDS.some((field) => field === name))
      .map((name) => unknownName('column', name, QUERY_FIELDS)),
    ...missing.map((name) => `${name}: there is no such column; the first line names the columns`),
    ...columns
      .filter((name, at) => columns.indexOf(name) !== at)
      .map((name) => `${name}: there are two such columns`),
  ];
}

function toFields(columns: readonly string[], record: readonly string[]): unknown {
  const fields = columns.map((name, at) => [name, record[at]] as const);
  return Object.fromEntries(fields.filter(([name, value]) => name !== 'occurredAt' || value !== ''));
}
