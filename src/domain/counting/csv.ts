/** Answers as CSV (RFC 4180), each with a header line. Nothing in them needs quotes: times, numbers, callers' names. */
import { type CallerCounts, COUNT_FIELDS, type Counts } from './counts.js';
import type { Series } from './series.js';

const BUCKET_COLUMNS = ['start', 'end', ...COUNT_FIELDS] as const;
const CALLER_COLUMNS = ['caller', 'type', 'count'] as const;

export function countsToCsv(counts: Counts): string {
  return toCsv(COUNT_FIELDS, [counts]);
}

export function seriesToCsv({ buckets }: Series): string {
  return toCsv(BUCKET_COLUMNS, buckets);
}

export function callersToCsv({ callers }: CallerCounts): string {
  return toCsv(CALLER_COLUMNS, callers);
}

function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number>>[],
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((cells) => `${cells.join()}\r\n`).join('');
}
