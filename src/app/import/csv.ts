/**
 * Reads CSV (RFC 4180). A streaming parser would lose good records after a stray quote. So this file splits records itself:
 * a record ends at a line end after an even number of quotes. If a record is invalid, only its first line is bad, and the
 * next line is read as the start of another record.
 */
import { parse } from 'csv-parse/sync';
import { lineBytesMax } from '../../domain/limits.js';
import { decodeUtf8, isBlank, stripByteOrderMark, trimEnd } from '../../domain/queries/lines.js';
import { QUERY_FIELDS } from '../../domain/queries/query.js';
import { failure, type Result, success } from '../../domain/result.js';
import { unknownNameMessage } from '../../domain/suggest.js';
import { createConverter, type Reading } from './fields.js';
import { type ImportRecord, type Line, readLines, tooLongProblem } from './records.js';

const quoteByte = 0x22;

interface CsvRecord {
  /** The first line. */
  readonly line: number;
  readonly fields: Result<readonly string[]>;
}

/** The first record names the columns. An empty `occurredAt` counts as missing; so does an empty `caller` with `--caller`. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  reading: Reading,
): AsyncGenerator<ImportRecord> {
  const convert = createConverter(reading);
  let columns: readonly string[] | undefined;
  for await (const { line, fields } of splitRecords(chunks)) {
    if (columns !== undefined) {
      const record = fields.ok ? toRecord(columns, fields.value) : fields;
      yield { line, value: record.ok ? convert(record.value) : record };
      continue;
    }
    const problems = fields.ok ? headerProblems(fields.value, reading) : fields.problems;
    if (!fields.ok || problems.length > 0) return yield { line, value: failure(...problems) };
    columns = fields.value;
  }
}

async function* splitRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  const splitter = new RecordSplitter();
  for await (const line of readLines(chunks)) yield* splitter.take(line);
  yield* splitter.end();
}

/** Joins lines until the number of quotes is even, which is where a record ends. */
class RecordSplitter {
  #open: Line[] = [];
  #quotesAreOdd = false;
  #bytes = 0;

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
    if (!this.#quotesAreOdd || this.#bytes > lineBytesMax) yield* this.#close();
  }

  /** Ends the input: open lines have an unclosed quote. */
  *end(): Generator<CsvRecord> {
    while (this.#open.length > 0) yield* this.#close();
  }

  /** Parses the open lines as a record. If they are invalid, only the first is bad, and the others are tried again. */
  *#close(): Generator<CsvRecord> {
    const [first, ...others] = this.#open;
    const fields = this.#quotesAreOdd ? failure('has a quote that is not closed') : parseRecord(this.#open);
    this.#open = [];
    this.#quotesAreOdd = false;
    this.#bytes = 0;
    if (first === undefined) return;
    yield { line: first.number, fields };
    if (!fields.ok) for (const line of others) yield* this.take(line);
  }
}

function countQuotes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(quoteByte); at !== -1; at = bytes.indexOf(quoteByte, at + 1)) count++;
  return count;
}

function parseRecord(lines: readonly Line[]): Result<readonly string[]> {
  const bytes = lines.flatMap((line, at) => [...(at === 0 ? [] : [lineEnd]), line.bytes ?? Buffer.alloc(0)]);
  const text = decodeUtf8(trimEnd(Buffer.concat(bytes)));
  if (!text.ok) return text;
  // A byte order mark anywhere else is part of a field.
  const record = lines[0]?.number === 1 ? stripByteOrderMark(text.value) : text.value;
  // Fast path for most records.
  if (!record.includes('"')) return success(record.split(','));
  try {
    return success(parse(record)[0] ?? []);
  } catch (error) {
    return failure(`is not valid CSV: ${(error as Error).message}`);
  }
}

const lineEnd = Buffer.from('\n');

function headerProblems(columns: readonly string[], { map, caller }: Reading): string[] {
  const names = map ?? { id: 'id', caller: 'caller', occurredAt: undefined };
  const needed = [names.id, ...(caller === undefined ? [names.caller] : []), names.occurredAt];
  const isUsed = (name: string) => map === undefined || Object.values(map).includes(name);
  return [
    ...columns
      .filter((name) => map === undefined && !QUERY_FIELDS.some((field) => field === name))
      .map((name) => unknownNameMessage('column', name, QUERY_FIELDS)),
    ...needed
      .filter((name) => name !== undefined && !columns.includes(name))
      .map((name) => `${name}: there is no such column; the first line names the columns`),
    ...columns
      .filter((name, at) => isUsed(name) && columns.indexOf(name) !== at)
      .map((name) => `${name}: there are two such columns`),
  ];
}

function toRecord(columns: readonly string[], record: readonly string[]): Result<Record<string, unknown>> {
  if (record.length !== columns.length) {
    return failure(`has ${record.length} fields, and the first line names ${columns.length} columns`);
  }
  const fields = columns.map((name, at) => [name, record[at]] as const);
  return success(Object.fromEntries(fields.filter(([name, value]) => name !== 'occurredAt' || value !== '')));
}
