/** Answers questions from the counters. One statement each, so each answer is of one snapshot. */
import { type Segment, splitIntoBuckets } from '../../domain/counting/buckets.js';
import {
  type CallerCounts,
  type Counts,
  type TypeCounts,
  toCallerCounts,
  withTotal,
} from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import { combineSeriesCounts, splitSeriesIntoBuckets } from '../../domain/counting/series-segments.js';

/** Reads rows with a statement. */
export type Read = <R>(
  name: 'count' | 'countSeries' | 'countCallers' | 'findExtent',
  values: readonly unknown[],
) => Promise<R[]>;

/** See `Store.count`. */
export async function count(read: Read, projectId: string, range: DateRange): Promise<Counts> {
  const [row] = await read<TypeCounts>('count', [projectId, ...toColumns(splitIntoBuckets(range))]);
  if (row === undefined) throw new Error('Invariant violated: a sum is one row.');
  return withTotal(row);
}

/** See `Store.countSeries`. */
export async function countSeries(
  read: Read,
  projectId: string,
  bounds: readonly number[],
): Promise<Counts[]> {
  const segments = splitSeriesIntoBuckets(bounds);
  const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments)];
  const rows = await read<TypeCounts & { readonly sum: number }>('countSeries', values);
  return combineSeriesCounts(bounds, new Map(rows.map((row) => [row.sum, row])));
}

/** See `Store.countCallers`. */
export async function countCallers(read: Read, projectId: string, range: DateRange): Promise<CallerCounts> {
  const values = [projectId, ...toColumns(splitIntoBuckets(range))];
  const rows = await read<{ readonly caller: string; readonly queries: number | null }>(
    'countCallers',
    values,
  );
  // A type without counters has the sum null.
  return toCallerCounts(rows.map(({ caller, queries }) => [caller, queries ?? 0]));
}

/** See `Store.findExtent`. */
export async function findExtent(read: Read, projectId: string): Promise<DateRange | undefined> {
  const [row] = await read<{ readonly first: number | null; readonly last: number }>('findExtent', [
    projectId,
  ]);
  return row === undefined || row.first === null ? undefined : { from: row.first, to: row.last + 1 };
}

function toColumns(segments: readonly Segment[]): number[][] {
  return [
    segments.map(({ level }) => level),
    segments.map(({ first }) => first),
    segments.map(({ end }) => end),
  ];
}
