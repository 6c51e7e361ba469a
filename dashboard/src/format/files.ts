/** Exports of what is on screen. */
import { CALLER_TYPES } from '../../../src/domain/queries/caller.js';
import type { Callers, Series } from '../api/types.js';

const COUNT_FIELDS = [...CALLER_TYPES, 'total'] as const;

/** The buckets as CSV (RFC 4180) with the columns of the API. */
export function seriesCsv({ buckets }: Series): string {
  return csv(
    ['start', 'end', ...COUNT_FIELDS],
    buckets.map((bucket) => [bucket.start, bucket.end, ...COUNT_FIELDS.map((field) => bucket[field])]),
  );
}

/** The callers as CSV with the columns of the API. */
export function callersCsv({ callers }: Callers): string {
  return csv(
    ['caller', 'type', 'count'],
    callers.map(({ caller, type, count }) => [caller, type, count]),
  );
}

/** A file name: `docs-2026-06-01-to-2026-06-30-day.csv`. */
export function fileName(...parts: readonly string[]): string {
  const name = parts.map((part) => part.replaceAll(/[^A-Za-z0-9._-]+/g, '-')).join('-');
  return name.replaceAll(/-{2,}/g, '-').replace(/^-+/, '');
}

function csv(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [header, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: string | number): string {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
