/** Responses as CSV (RFC 4180) with a header line. Times, numbers and caller names never need quotes. */
import { type CallerCounts, COUNT_FIELDS, type Counts } from './counts.js';
import type { Series } from './series.js';

export function countsToCsv(counts: Counts): string {
  return toCsv(COUNT_FIELDS, [counts]);
}

export function seriesToCsv({ buckets }: Series): string {
  return toCsv(['start', 'end', ...COUNT_FIELDS], buckets);
}

export function callersToCsv({ callers }: CallerCounts): string {
  return toCsv(['caller', 'type', 'count'], callers);
}

function toCsv<Column extends string>(
  columns: readonly Column[],
  rows: readonly Readonly<Record<Column, string | number>>[],
): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines.map((cells) => `${cells.join()}\r\n`).join('');
}
