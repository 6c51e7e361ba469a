/**
 * Reads CSV (RFC 4180). A streaming parser would lose good records after a stray quote. So this file splits records itself:
 * a record ends at a line end after an even number of quotes. If a record is invalid, only its first line is bad, and the
 * next line is read as the start of another record.
 */
import { parse } from 'csv-parse/sync';
import { importRecordBytesMax } from '../../domain/limits.js';
import { decodeUtf8, isBlank, stripByteOrderMark, trimEnd } from '../../domain/queries/lines.js';
import { QUERY_FIELDS } from '../../domain/queries/query.js';
import { failure, quote, type Result, success } from '../../domain/result.js';
import { unknownNameMessage } from '../../domain/suggest.js';
import { type Converter, createConverter, type Reading } from './fields.js';
import { type ImportRecord, type Line, type Parsed, readLines, tooLongProblem } from './records.js';

const quoteByte = 0x22;

interface CsvRecord {
  /** The first line. */
  readonly line: number;
  readonly fields: Result<readonly string[]>;
}

/**
 * The first record names the columns, and its commas, semicolons or tabs decide what separates them. An empty `occurredAt`
 * counts as missing; so does an empty `caller` with `--caller`.
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<ImportRecord> {
  const convert = createConverter(reading);
  let columns: readonly string[] | undefined;
  for await (const { line, fields } of splitRecords(chunks)) {
    if (columns !== undefined) {
      yield { line, value: fields.ok ? convertRow(columns, fields.value, convert) : fields };
      continue;
    }
    const problems = fields.ok ? headerProblems(fields.value, reading) : fields.problems;
    if (!fields.ok || problems.length > 0) return yield { line, value: failure(...problems) };
    columns = fields.value;
  }
}

/** Splits CSV into records. */
export async function* splitRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  const splitter = new RecordSplitter();
  for await (const line of readLines(chunks)) yield* splitter.take(line);
  yield* splitter.end();
}

/** Joins lines until the number of quotes is even, which is where a record ends. */
class RecordSplitter {
  #open: Line[] = [];
  #quotesAreOdd = false;
  #bytes = 0;
  /** Undefined until the first record. */
  #delimiter: string | undefined;

  *take(line: Line): Generator<CsvRecord> {
    if (line.bytes === undefined) {
      yield* this.end();
      yield { line: line.number, fields: failure(tooLongProblem) };
      return;
    }
    if (this.#open.length === 0 && isBlank(line.bytes)) return;
    this.#open.push(line);
    this.#bytes += line.bytes.length;
    if (countQuotes(line.bytes) % 2 === 1) this.#quotesAreOdd = !this.#quotesAreOdd;
    if (!this.#quotesAreOdd || this.#bytes > importRecordBytesMax) yield* this.#close();
  }

  /** Ends the input: open lines have an unclosed quote. */
  *end(): Generator<CsvRecord> {
    while (this.#open.length > 0) yield* this.#close();
  }

  /** Parses the open lines as a record. If they are invalid, only the first is bad, and the others are tried again. */
  *#close(): Generator<CsvRecord> {
    const [first, ...others] = this.#open;
    const fields = this.#quotesAreOdd ? failure('has a quote that is not closed') : this.#parse();
    this.#open = [];
    this.#quotesAreOdd = false;
    this.#bytes = 0;
    if (first === undefined) return;
    yield { line: first.number, fields };
    if (!fields.ok) for (const line of others) yield* this.take(line);
  }

  #parse(): Result<readonly string[]> {
    const record = decodeRecord(this.#open);
    if (!record.ok) return record;
    this.#delimiter ??= findDelimiter(record.value);
    return parseRecord(record.value, this.#delimiter);
  }
}

/** The character that occurs most often outside of quotes; a comma if there is none. */
function findDelimiter(record: string): string {
  const unquoted = record.replace(/"[^"]*"/g, '');
  const counts = delimiters.map((delimiter) => unquoted.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}

const delimiters = [',', ';', '\t'];

function countQuotes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(quoteByte); at !== -1; at = bytes.indexOf(quoteByte, at + 1)) count++;
  return count;
}

function decodeRecord(lines: readonly Line[]): Result<string> {
  const bytes = lines.flatMap((line, at) => [...(at === 0 ? [] : [lineEnd]), line.bytes ?? Buffer.alloc(0)]);
  const text = decodeUtf8(trimEnd(Buffer.concat(bytes)));
  // A byte order mark anywhere else is part of a field.
  return text.ok && lines[0]?.number === 1 ? success(stripByteOrderMark(text.value)) : text;
}

function parseRecord(record: string, delimiter: string): Result<readonly string[]> {
  // Fast path for most records.
  if (!record.includes('"')) return success(record.split(delimiter));
  try {
    return success(parse(record, { delimiter })[0] ?? []);
  } catch (error) {
    return failure(`is not valid CSV: ${(error as Error).message}`);
  }
}

const lineEnd = Buffer.from('\n');

function headerProblems(columns: readonly string[], { map, caller, where, recordIds }: Reading): string[] {
  const names = map ?? { id: 'id', caller: 'caller', occurredAt: undefined };
  const used = [
    ...(recordIds === undefined ? [names.id] : []),
    ...(caller === undefined || columns.includes(names.caller) ? [names.caller] : []),
    names.occurredAt,
    ...where.keys(),
  ].filter((name) => name !== undefined);
  return [
    ...columns
      .filter((name) => map === undefined && !QUERY_FIELDS.some((field) => field === name))
      .map((name) => unknownNameMessage('column', name, QUERY_FIELDS)),
    ...used
      .filter((name) => !columns.includes(name))
      .map((name) => `${name}: there is no such column; the first line names ${listNames(columns)}`),
    ...columns
      .filter((name, at) => (map === undefined || used.includes(name)) && columns.indexOf(name) !== at)
      .map((name) => `${name}: there are two such columns`),
  ];
}

/** Names that fit into a message. */
function listNames(columns: readonly string[]): string {
  const named = columns.slice(0, 20).map(quote).join(', ');
  return columns.length > 20 ? `${named} and ${columns.length - 20} more columns` : named;
}

function convertRow(columns: readonly string[], row: readonly string[], convert: Converter): Parsed {
  if (row.length !== columns.length) {
    return failure(`has ${row.length} fields, and the first line names ${columns.length} columns`);
  }
  const fields = columns.map((name, at) => [name, row[at]] as const);
  const record = Object.fromEntries(fields.filter(([name, value]) => name !== 'occurredAt' || value !== ''));
  return convert(record, row);
}
