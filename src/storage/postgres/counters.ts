/** Answers questions from the counters. One statement each, so each answer is of one snapshot. */
import { type Segment, splitIntoBuckets } from '../../domain/counting/buckets.js';
import {
  type CallerCounts,
  type Counts,
  mapTypes,
  type TypeCounts,
  toCallerCounts,
  withTotal,
} from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import { combineSeriesCounts, splitSeriesIntoBuckets } from '../../domain/counting/series-segments.js';
import type { Row } from './database.js';

export type Read = (
  name: 'count' | 'countSeries' | 'countCallers' | 'findExtent',
  values: readonly unknown[],
) => Promise<Row[]>;

/** See `Store.count`. */
export async function count(read: Read, projectId: string, range: DateRange): Promise<Counts> {
  const [row] = await read('count', [projectId, ...toColumns(splitIntoBuckets(range))]);
  return withTotal(toTypeCounts(row ?? {}));
}

/** See `Store.countSeries`. */
export async function countSeries(
  read: Read,
  projectId: string,
  bounds: readonly number[],
): Promise<Counts[]> {
  const segments = splitSeriesIntoBuckets(bounds);
  const rows = await read('countSeries', [projectId, segments.map(({ sum }) => sum), ...toColumns(segments)]);
  return combineSeriesCounts(bounds, new Map(rows.map((row) => [Number(row['sum']), toTypeCounts(row)])));
}

/** See `Store.countCallers`. */
export async function countCallers(read: Read, projectId: string, range: DateRange): Promise<CallerCounts> {
  const rows = await read('countCallers', [projectId, ...toColumns(splitIntoBuckets(range))]);
  return toCallerCounts(rows.map((row) => [String(row['caller']), Number(row['queries'])]));
}

/** See `Store.findExtent`. */
export async function findExtent(read: Read, projectId: string): Promise<DateRange | undefined> {
  const [row] = await read('findExtent', [projectId]);
  if (row === undefined || row['first'] === null) return undefined;
  return { from: Number(row['first']), to: Number(row['last']) + 1 };
}

function toColumns(segments: readonly Segment[]): number[][] {
  return [
    segments.map(({ level }) => level),
    segments.map(({ first }) => first),
    segments.map(({ end }) => end),
  ];
}

function toTypeCounts(row: Row): TypeCounts {
  return mapTypes((type) => Number(row[type]));
}
