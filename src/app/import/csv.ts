/**
 * Reads CSV (RFC 4180). A streaming parser would lose good records after a stray quote. So this file splits records itself:
 * a record ends at a line end after an even number of quotes. If a record is invalid, only its first line is bad, and the
 * next line is read as the start of another record. If it is valid but has rows within its quotes, all of these are bad:
 * whether a quote is missing or somebody wrote such a text, only its author knows.
 */
import { parse } from 'csv-parse/sync';
import { importRecordBytesMax } from '../../domain/limits.js';
import { decodeUtf8, isBlank, stripByteOrderMark, trimEnd } from '../../domain/queries/lines.js';
import { parseExportedQuery } from '../../domain/queries/receipt.js';
import { failure, quote, type Result, success } from '../../domain/result.js';
import { unknownNameMessage } from '../../domain/suggest.js';
import { EXACT_ROW, EXPORTED_COLUMNS, ROUNDED_NUMBER } from '../export/rows.js';
import { type Converter, createConverter, isObject, type Reading } from './fields.js';
import {
  type ImportRecord,
  type InChunks,
  type Line,
  type Parsed,
  readLines,
  tooLongProblem,
} from './records.js';

const quoteByte = 0x22;

/** How to read the records of a table. */
interface Table<T> {
  readonly headerProblems: (columns: readonly string[]) => readonly string[];
  /** Returns a function that reads rows, in order. A row is exact if the export wrote it. */
  readonly createReader: (
    columns: readonly string[],
  ) => (row: readonly string[], isExact?: boolean) => Result<T> | 'skipped';
  /** Whether what a line of a record was read as is good, like what the whole record was read as. */
  readonly isGood: (value: T, whole: T | undefined) => boolean;
}

interface TableRecord<T> {
  /** The first line, from 1. */
  readonly line: number;
  readonly value: Result<T> | 'skipped';
}

/**
 * The first record names the columns, and its commas, semicolons or tabs decide what separates them, unless a line `sep=;`
 * before it does. An empty `occurredAt` counts as missing; so does an empty `caller` with `--caller`.
 */
export function readCsv(chunks: AsyncIterable<Buffer>, reading: Reading): InChunks<ImportRecord> {
  return readTable<unknown>(chunks, {
    headerProblems: (columns) => headerProblems(columns, reading),
    createReader: (columns) => {
      const convert = createConverter(reading);
      const id = reading.recordIds === undefined ? columns.indexOf(reading.map?.id ?? 'id') : -1;
      return (row, isExact) => {
        const query = convertRow(columns, row, convert);
        const isRounded = !isExact && query !== 'skipped' && ROUNDED_NUMBER.test(row[id] ?? '');
        return isRounded ? failure(`id: ${quote(row[id] ?? '')} ${roundedProblem}`) : query;
      };
    },
    isGood: (value, whole) =>
      parseExportedQuery(value, Number.POSITIVE_INFINITY).ok && (hasTime(value) || !hasTime(whole)),
  });
}

function hasTime(query: unknown): boolean {
  return isObject(query) && 'occurredAt' in query;
}

const roundedProblem =
  'is a number that a spreadsheet rounded: export the file again with this column as text, without opening it in a spreadsheet';

/** Reads a table whose first record names the columns. Ends if that is bad. */
export async function* readTable<T>(
  chunks: AsyncIterable<Buffer>,
  table: Table<T>,
): InChunks<TableRecord<T>> {
  let rows: Rows<T> | undefined;
  for await (const records of splitRecords(chunks)) {
    const read: TableRecord<T>[] = [];
    for (const record of records) {
      if (rows !== undefined) {
        read.push(...rows.read(record));
        continue;
      }
      const begun = readHeader(record, table);
      if (Array.isArray(begun)) return yield begun;
      rows = begun;
    }
    yield read;
  }
}

/** Returns what is bad if the table cannot be read. */
function readHeader<T>({ line, fields, lines }: CsvRecord, table: Table<T>): Rows<T> | TableRecord<T>[] {
  const problems = fields.ok ? table.headerProblems(fields.value) : fields.problems;
  if (!fields.ok || problems.length > 0) return [{ line, value: failure(...problems) }];
  const rows = new Rows(fields.value, table);
  const swallowed = rows.findRows(lines.slice(1));
  return swallowed.length > 0 ? [...nameSwallowed(line, swallowed)] : rows;
}

function* nameSwallowed(line: number, swallowed: readonly number[]): Generator<TableRecord<never>> {
  const [first, last] = [swallowed[0], swallowed.at(-1)];
  const names = first === last ? `line ${first}, which is a row` : `rows up to line ${last}`;
  const problem = `has ${names}, within its quotes: close the quote or remove it, and import the file again`;
  yield { line, value: failure(problem) };
  for (const one of swallowed) yield nameWithin(one, line);
}

function nameWithin(line: number, begin: number): TableRecord<never> {
  return { line, value: failure(`is a row, but within quotes that begin in line ${begin}`) };
}

/** Reads the rows below a header. */
class Rows<T> {
  readonly #columns: number;
  readonly #isExport: boolean;
  readonly #isGood: Table<T>['isGood'];
  readonly #try: ReturnType<Table<T>['createReader']>;
  readonly #read: ReturnType<Table<T>['createReader']>;

  constructor(columns: readonly string[], { createReader, isGood }: Table<T>) {
    this.#columns = columns.length;
    this.#isExport = columns.join() === EXPORTED_COLUMNS.join();
    this.#isGood = isGood;
    this.#try = createReader(columns);
    this.#read = createReader(columns);
  }

  *read(record: CsvRecord): Generator<TableRecord<T>> {
    const { line, fields, lines } = record;
    const isExact = this.#isExport && record.isExact;
    const swallowed = isExact ? [] : this.#findSwallowed(record);
    if (swallowed.length > 0) return yield* nameSwallowed(line, swallowed);
    const value = fields.ok ? this.#read(fields.value, isExact) : fields;
    yield { line, value };
    if (value === 'skipped' || value.ok) return;
    // A quote that is missing may be what is wrong with it.
    for (const other of lines.slice(1)) {
      if (other.plain.length >= this.#columns) yield nameWithin(other.line, line);
    }
  }

  /** A text that has line ends does not make rows of both: each would have to name a time. */
  #findSwallowed({ fields, lines: [first, ...others] }: CsvRecord): number[] {
    if (first === undefined) return [];
    const whole = fields.ok ? this.#try(fields.value) : 'skipped';
    const like = whole !== 'skipped' && whole.ok ? whole.value : undefined;
    const isRow = this.#isRow(first.plain, like) || this.#isRow(first.closed, like);
    return isRow ? this.findRows(others, like) : [];
  }

  /** The lines that are rows by themselves. */
  findRows(lines: readonly LineFields[], whole?: T): number[] {
    return lines.filter(({ plain }) => this.#isRow(plain, whole)).map(({ line }) => line);
  }

  #isRow(fields: readonly string[], whole: T | undefined): boolean {
    const row = fields.length === this.#columns ? this.#try(fields) : 'skipped';
    return row !== 'skipped' && row.ok && this.#isGood(row.value, whole);
  }
}

/** The fields of one of the lines of a record. */
interface LineFields {
  readonly line: number;
  /** As if it had no quotes. */
  readonly plain: readonly string[];
  /** As if its last quote were closed at its end. */
  readonly closed: readonly string[];
}

interface CsvRecord {
  /** The first line. */
  readonly line: number;
  readonly fields: Result<readonly string[]>;
  /** Whether the export writes it so, if it has the columns of the export. */
  readonly isExact: boolean;
  /** The lines of a valid record that has several. */
  readonly lines: readonly LineFields[];
}

async function* splitRecords(chunks: AsyncIterable<Buffer>): InChunks<CsvRecord> {
  const splitter = new RecordSplitter();
  for await (const lines of readLines(chunks)) yield lines.flatMap((line) => [...splitter.take(line)]);
  yield [...splitter.end()];
}

/** Joins lines until the number of quotes is even, which is where a record ends. */
class RecordSplitter {
  #open: Line[] = [];
  #quotesAreOdd = false;
  #bytes = 0;
  /** Undefined until the first record, or the line that names it. */
  #delimiter: string | undefined;
  /** The number of columns; undefined until the first record. */
  #columns: number | undefined;

  *take(line: Line): Generator<CsvRecord> {
    if (line.bytes === undefined) {
      yield* this.end();
      yield { line: line.number, fields: failure(tooLongProblem), isExact: false, lines: [] };
      return;
    }
    if (this.#open.length === 0 && (isBlank(line.bytes) || this.#namesDelimiter(line.bytes))) return;
    this.#open.push(line);
    this.#bytes += line.bytes.length;
    if (countQuotes(line.bytes) % 2 === 1) this.#quotesAreOdd = !this.#quotesAreOdd;
    if (!this.#quotesAreOdd || this.#bytes > importRecordBytesMax) yield* this.#close();
  }

  /** Reads the line that spreadsheets write before the first record. */
  #namesDelimiter(bytes: Buffer): boolean {
    if (this.#delimiter !== undefined || bytes.length > delimiterLineBytesMax) return false;
    this.#delimiter = /^\ufeff?"?sep=(.)"?\r?$/iu.exec(bytes.toString())?.[1];
    return this.#delimiter !== undefined;
  }

  /** Ends the input: open lines have an unclosed quote. */
  *end(): Generator<CsvRecord> {
    while (this.#open.length > 0) yield* this.#close();
  }

  /** Parses the open lines as a record. If they are invalid, only the first is bad, and the others are tried again. */
  *#close(): Generator<CsvRecord> {
    const [first, ...others] = this.#open;
    const record = this.#quotesAreOdd ? failure('has a quote that is not closed') : decodeRecord(this.#open);
    const fields = record.ok ? this.#parse(record.value) : record;
    this.#open = [];
    this.#quotesAreOdd = false;
    this.#bytes = 0;
    if (first === undefined) return;
    const lines = fields.ok && others.length > 0 ? [first, ...others] : [];
    const isExact = record.ok && EXACT_ROW.test(record.value);
    yield { line: first.number, fields, isExact, lines: lines.map((line) => this.#readAlone(line)) };
    if (!fields.ok) for (const line of others) yield* this.take(line);
  }

  #readAlone(line: Line): LineFields {
    const record = decodeRecord([line]);
    const text = record.ok ? record.value : '';
    const delimiter = this.#delimiter ?? ',';
    const closed = parseRecord(`${text}"`, delimiter);
    return {
      line: line.number,
      plain: text.replaceAll('"', '').split(delimiter),
      closed: closed.ok ? closed.value : [],
    };
  }

  #parse(record: string): Result<readonly string[]> {
    this.#delimiter ??= findDelimiter(record);
    const fields = parseRecord(record, this.#delimiter);
    if (!fields.ok) return fields;
    this.#columns ??= fields.value.length;
    if (fields.value.length === this.#columns) return fields;
    return failure(`has ${fields.value.length} fields, and the first line names ${this.#columns} columns`);
  }
}

/** The character that occurs most often outside of quotes; a comma if there is none. */
function findDelimiter(record: string): string {
  const unquoted = record.replace(/"[^"]*"/g, '');
  const counts = delimiters.map((delimiter) => unquoted.split(delimiter).length);
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ',';
}

const delimiters = [',', ';', '\t'];

/** The byte order mark, `"sep=;"` and CR. */
const delimiterLineBytesMax = 14;

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
    const [fields = [], ...others] = parse(record, { delimiter });
    // The parser takes a CR outside of quotes for the end of a row.
    return others.length === 0 ? success(fields) : failure(carriageReturnProblem);
  } catch (error) {
    return failure(`is not valid CSV: ${(error as Error).message}`);
  }
}

const carriageReturnProblem =
  'has several rows, with a CR alone at the end of each: save the file with LF or CRLF at the end of each row, and import it again';

const lineEnd = Buffer.from('\n');

const MAY_BE_EMPTY: readonly string[] = ['occurredAt'];

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
      .filter((name) => map === undefined && !EXPORTED_COLUMNS.includes(name))
      .map((name) => unknownNameMessage('column', name, EXPORTED_COLUMNS)),
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
  const fields = columns.map((name, at) => [name, row[at]] as const);
  const record = Object.fromEntries(
    fields.filter(([name, value]) => value !== '' || !MAY_BE_EMPTY.includes(name)),
  );
  return convert(record, row);
}
