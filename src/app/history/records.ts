/** Reads imported counts from CSV: one for each day, or other span, and caller; also from tables of other systems. */
import { countProblems, type ImportedCount, spanProblems } from '../../domain/counting/imported-count.js';
import { callerProblems } from '../../domain/queries/query.js';
import {
  collectProblems,
  failure,
  prefixProblems,
  quote,
  type Result,
  success,
} from '../../domain/result.js';
import { unknownNameMessage } from '../../domain/suggest.js';
import { parseBound, parseTimestamp } from '../../domain/time/date-time.js';
import { startOfDate, type TimeZone } from '../../domain/time/time-zone.js';
import { readTable } from '../import/csv.js';
import type { InChunks } from '../import/records.js';

/** How to read the records. */
export interface CountReading {
  readonly source: string;
  /** The caller of records without one. */
  readonly caller: string | undefined;
  /** The zone of dates. */
  readonly zone: TimeZone;
  /** Undefined if the columns have the names below. */
  readonly table: CountTable | undefined;
}

/** A table of another system, with a row for each date and event. All other columns are ignored. */
export interface CountTable {
  readonly date: string;
  readonly count: string;
  readonly event: string;
  /** The event that stands for a question. */
  readonly eventName: string;
}

export interface CountRecord {
  /** The first line, from 1. */
  readonly line: number;
  /** `skipped` for another event. */
  readonly value: Result<ImportedCount> | 'skipped';
}

const COLUMNS = ['date', 'start', 'end', 'caller', 'count'] as const;

type Fields = { readonly [Name in (typeof COLUMNS)[number]]?: string | undefined };

type Row = Readonly<Record<string, string | undefined>>;

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The first record names the columns, in any order: `date`, or `start` and `end`; `caller`; `count`. */
export function readCounts(
  chunks: AsyncIterable<Buffer>,
  reading: CountReading,
  nowMs: number,
): InChunks<CountRecord> {
  return readTable(chunks, {
    headerProblems: (columns) => headerProblems(columns, reading),
    createReader: (columns) => (record) =>
      readRow(Object.fromEntries(columns.map((name, at) => [name, record[at]])), reading, nowMs),
    isGood: () => true,
  });
}

function readRow(row: Row, reading: CountReading, nowMs: number): CountRecord['value'] {
  const { table } = reading;
  if (table === undefined) return toCount(row, reading, nowMs);
  if (row[table.event] !== table.eventName) return 'skipped';
  return toCount({ date: row[table.date], count: row[table.count] }, reading, nowMs);
}

function headerProblems(columns: readonly string[], { caller, table }: CountReading): string[] {
  if (table !== undefined) {
    return [table.date, table.event, table.count]
      .filter((name) => !columns.includes(name))
      .map((name) => `${name}: there is no such column; the first line names the columns`);
  }
  const span = columns.includes('date') ? ['date'] : ['start', 'end'];
  const needed = [...span, ...(caller === undefined ? ['caller'] : []), 'count'];
  const known = columns.includes('date') ? ['date', 'caller', 'count'] : [...COLUMNS];
  return [
    ...columns
      .filter((name) => !known.includes(name))
      .map((name) => unknownNameMessage('column', name, known)),
    ...needed
      .filter((name) => !columns.includes(name))
      .map((name) => `${name}: there is no such column; the first line names the columns`),
    ...columns
      .filter((name, at) => columns.indexOf(name) !== at)
      .map((name) => `${name}: there are two such columns`),
  ];
}

function toCount(
  fields: Fields,
  { source, zone, ...reading }: CountReading,
  nowMs: number,
): Result<ImportedCount> {
  const { date, count: text = '' } = fields;
  const caller = fields.caller || reading.caller || '';
  const start =
    date === undefined
      ? prefixProblems('start', parseTime(fields.start ?? '', zone))
      : prefixProblems('date', parseDay(date, zone));
  const end =
    date === undefined
      ? prefixProblems('end', parseTime(fields.end ?? '', zone))
      : success(start.ok ? startOfDate(date, zone, 1) : 0);
  const count = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  const problems = [
    ...collectProblems(start, end),
    ...(start.ok && end.ok ? spanProblems({ from: start.value, to: end.value }, nowMs) : []),
    ...callerProblems(caller),
    ...countProblems(count).map((problem) => `${problem}, but ${quote(text)}`),
  ];
  if (problems.length > 0 || !start.ok || !end.ok) return failure(...problems);
  return success({ source, caller, start: start.value, end: end.value, count });
}

function parseDay(date: string, zone: TimeZone): Result<number> {
  if (!DATE.test(date)) return failure(`${quote(date)} is not a date such as 2026-01-31`);
  const parsed = parseBound(date);
  return parsed.ok ? success(startOfDate(date, zone)) : parsed;
}

/** A date in the zone, or a date-time with an offset. */
function parseTime(text: string, zone: TimeZone): Result<number> {
  return DATE.test(text) ? parseDay(text, zone) : parseTimestamp(text);
}
