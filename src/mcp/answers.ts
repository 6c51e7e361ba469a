/**
 * What the tools answer: words, then a table. Clients pass the text or the structured content to the model, or both, and stop at some
 * 25,000 tokens. So a list is in the text alone, one row for each item, and only as much of it as a model should read at once.
 */
import type { Changes } from '../app/reading/changes.js';
import type { Interval } from '../domain/calendar/names.js';
import {
  addCounts,
  type Bucket,
  type CallerCounts,
  type CallerStats,
  COUNT_FIELDS,
  type Counts,
  sumByType,
  withTotal,
} from '../domain/counting/counts.js';
import type { Series } from '../domain/counting/series.js';
import { formatCount, formatQuantity } from '../domain/format.js';
import { callersShownMax, toolTokensMax } from '../domain/limits.js';

type Cell = string | number | null;

/** A list, with what is said before it. */
export interface Table {
  readonly words: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  /** Rows that are shown unless more are asked for. */
  readonly rowsMax?: number;
  /** What more there is to say about rows that are left out. */
  readonly describe?: (leftOut: readonly (readonly Cell[])[]) => string;
}

/** Which rows of a table are asked for: from `first`, counted from 1, and as many as fit unless `count` says how many. */
export interface Page {
  readonly first: number;
  readonly count: number | undefined;
}

/** The table as text. `callFor` is the call that shows the rows from a later one. */
export function showTable(
  { words, columns, rows, rowsMax = rows.length, describe = () => '' }: Table,
  { first, count }: Page,
  callFor: (first: number) => string,
): string {
  const lines = [...words, toLine(columns)];
  const asked = rows.slice(first - 1, first - 1 + (count ?? rowsMax)).map(toLine);
  const room = toolTokensMax - countTokens([...lines, callFor(first)].join('\n')) - restTokensMax;
  const shown = count === undefined ? fitting(asked, room) : asked;
  const end = first - 1 + shown.length;
  if (first > rows.length && first > 1) return [...words, `There is no row after ${rows.length}.`].join('\n');
  if (first > 1) lines.splice(-1, 0, `Rows ${first} to ${end} of ${rows.length}:`);
  const leftOut = rows.slice(end);
  const rest =
    leftOut.length === 0
      ? []
      : [
          `Left out: ${formatQuantity(leftOut.length, 'row')} after row ${end}${describe(leftOut)}. To get them, call ${callFor(end + 1)}`,
        ];
  return [...lines, ...shown, ...rest].join('\n');
}

/** For the sentence about what is left out. */
const restTokensMax = 100;

function fitting(lines: readonly string[], tokensMax: number): readonly string[] {
  let tokens = 0;
  const tooMany = lines.findIndex((line) => {
    tokens += countTokens(line) + 1;
    return tokens > tokensMax;
  });
  return tooMany === -1 ? lines : lines.slice(0, Math.max(1, tooMany));
}

/** As many tokens as any usual model makes of it, or a few more: they split numbers and names that are not words. */
export function countTokens(text: string): number {
  return text.match(/\d{1,3}|[a-z]{1,3}|[^\sa-z\d]| {2,}|\n/gi)?.length ?? 0;
}

function toLine(cells: readonly Cell[]): string {
  return cells.map((cell) => (/[",\n]/.test(String(cell)) ? JSON.stringify(cell) : (cell ?? ''))).join();
}

export function statsTable({ previous, ...counts }: CallerStats): Table {
  const compared = previous === undefined ? [] : ([...COUNT_FIELDS, 'dateFrom', 'dateTo'] as const);
  return {
    words: [],
    columns: [...COUNT_FIELDS, ...compared.map((field) => `previous.${field}`)],
    rows: [
      [...COUNT_FIELDS.map((field) => counts[field]), ...compared.map((field) => previous?.[field] ?? '')],
    ],
  };
}

/** Buckets tile the range, so that each ends where the next one begins. */
export function seriesTable({ interval, buckets, callers, rest, previous }: Series): Table {
  const compared = previous === undefined ? [] : (['start', ...COUNT_FIELDS] as const);
  const previousCells = (bucket: Bucket) =>
    compared.map((field) =>
      field === 'start'
        ? shorten(bucket.previous?.start ?? '', interval)
        : (bucket.previous?.[field] ?? null),
    );
  const parts = callers === undefined || rest === undefined ? undefined : [...callers, rest];
  const sum = withTotal(addCounts(buckets));
  const end = buckets.at(-1)?.end;
  return {
    words: [
      `One row for each ${interval}, ${formatQuantity(buckets.length, 'row')} in all: from start to the start of the next row` +
        `${end === undefined ? '' : `, the last one to ${shorten(end, interval)}`}. All rows together: ${describeCounts(sum)}.`,
      ...(previous === undefined ? [] : [`All of previous: ${describeCounts(previous)}.`]),
      ...(rest === undefined ? [] : [`(rest): ${formatQuantity(rest.callers, 'other caller')}.`]),
    ],
    columns: [
      'start',
      ...(parts === undefined
        ? COUNT_FIELDS
        : ['total', ...(callers ?? []).map(({ caller }) => `caller.${caller}`), '(rest)']),
      ...compared.map((field) => `previous.${field}`),
    ],
    rows: buckets.map((bucket, at) => [
      shorten(bucket.start, interval),
      ...(parts === undefined
        ? COUNT_FIELDS.map((field) => bucket[field])
        : [bucket.total, ...parts.map(({ counts }) => counts[at] ?? 0)]),
      ...previousCells(bucket),
    ]),
  };
}

/** A local midnight is its date, unless a clock change can repeat it. A full minute has no seconds. */
function shorten(time: string, interval: Interval): string {
  const short = interval === 'hour' ? time : time.replace(/T00:00:00\.000[+-]\d\d:\d\d$/, '');
  return short.replace(/:00\.000(?=[+-])/, '').replace('+00:00', 'Z');
}

export function callersTable({ callers, previous }: CallerCounts): Table {
  return {
    words: [
      `${formatQuantity(callers.length, 'caller')}, most queries first. Together: ${describeCounts(sumByType(callers))}.`,
      ...(previous === undefined ? [] : [`previous, together: ${describeCounts(previous)}.`]),
    ],
    columns: ['caller', 'type', 'count'],
    rows: callers.map(({ caller, type, count }) => [caller, type, count]),
    rowsMax: callersShownMax,
    describe: (leftOut) =>
      `, ${formatQuantity(
        leftOut.reduce((sum, [, , count]) => sum + Number(count), 0),
        'query',
        'queries',
      )} together`,
  };
}

export function changesTable({ before, now, difference, changes, otherChanges }: Changes): Table {
  const isAll = COUNT_FIELDS.every((field) => otherChanges[field] === 0);
  return {
    words: [
      `before: ${describeCounts(before)}. now: ${describeCounts(now)}. Difference: ${describeCounts(difference)}.`,
      `One row for each change, the largest first.${isAll ? '' : ` All that are in no row, together: ${describeCounts(otherChanges)}.`}`,
    ],
    columns: ['count', 'caller', 'type', 'cause', 'by', 'correction', 'reason'],
    rows: changes.map(({ count, caller, type, cause, by, correction, reason }) => {
      return [count, caller, type, cause, by, correction, reason];
    }),
  };
}

function describeCounts(counts: Counts): string {
  return COUNT_FIELDS.map((field) => `${field} ${formatCount(counts[field])}`).join(', ');
}
