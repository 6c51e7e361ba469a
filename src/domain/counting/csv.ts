/** Counts as CSV (RFC 4180) with a header line. */
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
  const lines = [columns, ...rows.map((row) => columns.map((column) => toCell(row[column])))];
  return lines.map((cells) => `${cells.join()}\r\n`).join('');
}

/** Spreadsheets run a text that begins with one of these as a formula. Behind an apostrophe it stays a text (OWASP, "CSV Injection"). */
const FORMULA = /^[-=+@\t\r]/;

function toCell(value: string | number): string {
  const text = typeof value === 'string' && FORMULA.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
