/**
 * How long the rows of queries are kept. Counts are kept forever. But without its row, nobody can tell whether a query was
 * already counted, so queries from before the oldest kept row are refused.
 */
import { bucketWidthMs, ROW_LEVELS } from '../counting/buckets.js';
import { CallerStatsError } from '../errors.js';
import { retentionDaysMax } from '../limits.js';
import { failure, quote, type Result, success } from '../result.js';
import { dayMs, hourMs } from '../time/duration.js';
import type { Project } from './project.js';

/** Whether a project can keep the rows of its queries for this many days. */
export function isRetentionDays(days: number): boolean {
  return Number.isInteger(days) && days >= 1 && days <= retentionDaysMax;
}

/** Parses a number of days, or `none` to keep rows forever (null). */
export function parseRetentionDays(text: string): Result<number | null> {
  if (text === 'none') return success(null);
  const days = Number(text);
  return /^\d{1,9}$/.test(text) && isRetentionDays(days)
    ? success(days)
    : failure(`${quote(text)} is not a whole number of days from 1 to ${retentionDaysMax}, or none`);
}

/** What moves the start of the time whose rows are kept. `lastCounted` is the last bucket before it that has queries (`COUNTED_LEVEL`). */
type Kept = Pick<Project, 'retentionDays' | 'rowsFrom'> & { readonly lastCounted: number | null };

/** All queries are in the counters of this level, also when their rows are gone. */
export const COUNTED_LEVEL: number = ROW_LEVELS[1];

/**
 * The new start of the time whose rows are kept: the beginning of the UTC day that the retention reaches back into. It moves back only
 * from the future, where a clock that was ahead has put it, since everything would be refused until then: to the next full hour,
 * and never to before a query whose row may be gone. Undefined if it does not change.
 */
export function nextRowsFrom(
  { retentionDays, rowsFrom, lastCounted }: Kept,
  nowMs: number,
): number | undefined {
  if (rowsFrom !== null && rowsFrom > nowMs) {
    const nextHour = Math.ceil(nowMs / hourMs) * hourMs;
    const counted = lastCounted === null ? nextHour : (lastCounted + 1) * bucketWidthMs(COUNTED_LEVEL);
    const next = Math.max(nextHour, counted);
    return next < rowsFrom ? next : undefined;
  }
  if (retentionDays === null) return undefined;
  const next = (Math.floor(nowMs / dayMs) - retentionDays) * dayMs;
  return rowsFrom === null || next > rowsFrom ? next : undefined;
}

/** For the log: the new `rowsFrom`, if it is before the old one, which a wrong clock had put into the future. */
export function movedBack({ id, rowsFrom }: Pick<Project, 'id' | 'rowsFrom'>, next: number) {
  return rowsFrom !== null && next < rowsFrom ? { movedBack: { projectId: id, rowsFrom: next } } : {};
}

/** Whether retention has something to do: a sweep that has begun (`sweptTo` is set), or a new `rowsFrom`. */
export function needsRetention(project: Kept & { readonly sweptTo: unknown }, nowMs: number): boolean {
  return project.sweptTo !== null || nextRowsFrom(project, nowMs) !== undefined;
}

/**
 * The error for a batch with queries from before `rowsFrom`, with a detail for each of them; undefined if there are none.
 * An id that occurs again in the batch is a duplicate of the first, whatever its time; not if `recordings`, which has a number
 * for each query, says that it belongs to another recording.
 */
export function oldQueriesError(
  ids: readonly string[],
  timesMs: ArrayLike<number>,
  rowsFrom: number | null,
  recordings: ArrayLike<number> = [],
): CallerStatsError | undefined {
  if (rowsFrom === null) return undefined;
  const seen = new Set<string>();
  const since = new Date(rowsFrom).toISOString();
  const details: string[] = [];
  for (const [index, id] of ids.entries()) {
    if (recordings[index] !== recordings[index - 1]) seen.clear();
    const isOld = (timesMs[index] ?? rowsFrom) < rowsFrom;
    if (isOld && !seen.has(id)) details.push(`queries[${index}]: ${beforeRowsProblem(since)}`);
    seen.add(id);
  }
  if (details.length === 0) return undefined;
  return new CallerStatsError(
    'invalid',
    "Nothing was recorded. The project's retention has removed old rows, so duplicates of old queries can no longer be " +
      'recognized. Leave these queries out.',
    { details },
  );
}

/** The problem of a query from before `since`, the start of the time whose rows the project keeps. */
export function beforeRowsProblem(since: string): string {
  return `occurredAt: lies before ${since}, from when on the project keeps rows`;
}
