/** Counts as CSV (RFC 4180) with a header line. */
import { CallerStatsError } from '../errors.js';
import { type Bucket, type CallerCounts, type CallerStats, COUNT_FIELDS } from './counts.js';
import type { CsvForm } from './report-request.js';
import type { Series } from './series.js';

/** The counts that are compared with are in columns such as `previous.total`, as their fields in JSON. */
export function callerStatsToCsv({ previous, ...counts }: CallerStats): string {
  const own = COUNT_FIELDS.map((field) => [field, counts[field]] as const);
  const compared = (previous === undefined ? [] : ([...COUNT_FIELDS, 'dateFrom', 'dateTo'] as const)).map(
    (field) => [`previous.${field}`, previous?.[field] ?? ''] as const,
  );
  const cells = [...own, ...compared];
  return toCsv(
    cells.map(([name]) => name),
    [cells.map(([, value]) => value)],
  );
}

/**
 * By caller and wide, a column for each caller, such as `caller.slack`, by name: they are where they were in the report before while the callers are
 * the same, and none has the name of another column. One more for the rest.
 * By caller and long, a row for each of them in each bucket: its columns are always the same.
 */
export function seriesToCsv(
  { buckets: written, callers, rest, previous }: Series,
  { layout, times }: CsvForm = { layout: 'wide', times: 'offset' },
): string {
  const buckets = times === 'local' ? written.map(withLocalTimes) : written;
  const compared = previous === undefined ? [] : PREVIOUS_FIELDS;
  const previousCells = (bucket: Bucket): Cell[] => compared.map((field) => bucket.previous?.[field] ?? '');
  const previousColumns = compared.map((field) => `previous.${field}`);
  if (callers === undefined || rest === undefined) {
    return toCsv(
      ['start', 'end', ...COUNT_FIELDS, ...previousColumns],
      buckets.map((bucket) => [
        bucket.start,
        bucket.end,
        ...COUNT_FIELDS.map((field) => bucket[field]),
        ...previousCells(bucket),
      ]),
    );
  }
  const named = callers.toSorted((one, other) => (one.caller < other.caller ? -1 : 1));
  if (layout === 'long') {
    // A cell is written once for all rows that have it: in them, there may be a hundred thousand.
    const series = [...named, { caller: REST, type: '', counts: rest.counts }].map(
      ({ caller, type, counts }) => ({ cells: toCells([caller, type]), counts }),
    );
    const rows = buckets.map(({ start, end }, at) => {
      const bucket = toCells([start, end]);
      return series.map(({ cells, counts }) => `${bucket},${cells},${counts[at] ?? 0}\r\n`).join('');
    });
    return [toCsv(['start', 'end', 'caller', 'type', 'count'], []), ...rows].join('');
  }
  const columns = [...named.map(({ caller }) => `caller.${caller}`), REST];
  return toCsv(
    ['start', 'end', 'total', ...columns, ...previousColumns],
    buckets.map((bucket, at) => [
      bucket.start,
      bucket.end,
      bucket.total,
      ...[...named, rest].map(({ counts }) => counts[at] ?? 0),
      ...previousCells(bucket),
    ]),
  );
}

function withLocalTimes({ start, end, previous, ...counts }: Bucket): Bucket {
  const local = { ...counts, start: toLocalTime(start), end: toLocalTime(end) };
  if (previous === undefined || previous === null)
    return { ...local, ...(previous === null && { previous }) };
  return {
    ...local,
    previous: { ...previous, start: toLocalTime(previous.start), end: toLocalTime(previous.end) },
  };
}

/** `2026-03-01 00:00:00`, which Excel and LibreOffice read as a date with a time; milliseconds if there are any. */
function toLocalTime(time: string): string {
  return time.replace('T', ' ').replace(/(\.000)?(Z|[+-][\d:]+)$/, '');
}

/** All callers that have no series of their own. No caller has this name. */
const REST = '(rest)';

/** What a bucket is compared with, as its fields in JSON. */
const PREVIOUS_FIELDS = ['start', 'end', ...COUNT_FIELDS] as const;

export function callersToCsv({ callers, previous }: CallerCounts): string {
  // Of several rows, the compared counts belong to none.
  if (previous !== undefined) {
    const problem =
      'compare: the counts that are compared belong to none of the rows; use JSON, or the totals';
    throw new CallerStatsError('invalid', 'This report cannot be CSV.', { details: [problem] });
  }
  return toCsv(
    ['caller', 'type', 'count'],
    callers.map(({ caller, type, count }) => [caller, type, count]),
  );
}

type Cell = string | number;

/** Rows of any kind as CSV. */
export function toCsv(columns: readonly Cell[], rows: readonly (readonly Cell[])[]): string {
  return [columns, ...rows].map((cells) => `${toCells(cells)}\r\n`).join('');
}

function toCells(values: readonly Cell[]): string {
  return values.map(toCell).join();
}

/** Spreadsheets run a text that begins with one of these as a formula. Behind an apostrophe it stays a text (OWASP, "CSV Injection"). */
const FORMULA = /^[-=+@\t\r]/;

function toCell(value: Cell): string {
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
