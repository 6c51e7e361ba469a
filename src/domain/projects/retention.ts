/**
 * How long the rows of queries are kept. Their counts are kept for ever, but without its row nobody can tell any more
 * whether a query was counted: so from the time on that rows are removed up to, older ones are refused.
 */
import { CallerStatsError } from '../errors.js';
import { retentionDaysMax } from '../limits.js';
import { failure, quote, type Result, success } from '../result.js';
import { dayMs } from '../time/duration.js';
import type { Project } from './project.js';

/** Reads a number of days, or `none` for keeping them for ever. */
export function parseRetentionDays(text: string): Result<number | null> {
  if (text === 'none') return success(null);
  const days = Number(text);
  return /^\d{1,9}$/.test(text) && days >= 1 && days <= retentionDaysMax
    ? success(days)
    : failure(`${quote(text)} is not a whole number of days from 1 to ${retentionDaysMax}, or none`);
}

/**
 * Where the time that rows are kept from is to be moved: to the beginning of the day in UTC that the retention reaches
 * back into. Undefined where it stays: it is never moved back.
 */
export function nextRowsFrom(
  { retentionDays, rowsFrom }: Pick<Project, 'retentionDays' | 'rowsFrom'>,
  nowMs: number,
): number | undefined {
  if (retentionDays === null) return undefined;
  const next = (Math.floor(nowMs / dayMs) - retentionDays) * dayMs;
  return rowsFrom === null || next > rowsFrom ? next : undefined;
}

/**
 * Why a batch is refused: `invalid`, with a detail for each query from before `rowsFrom`, by its index. Undefined where
 * there is none. A query whose id came earlier in the batch is a repeat of that one, whatever time it says.
 */
export function oldQueriesError(
  ids: readonly string[],
  timesMs: ArrayLike<number>,
  rowsFrom: number | null,
): CallerStatsError | undefined {
  if (rowsFrom === null) return undefined;
  const seen = new Set<string>();
  const since = new Date(rowsFrom).toISOString();
  const details: string[] = [];
  for (const [index, id] of ids.entries()) {
    if (seen.has(id)) continue;
    seen.add(id);
    if ((timesMs[index] ?? rowsFrom) < rowsFrom)
      details.push(
        `queries[${index}]: occurredAt: lies before ${since}, from when on the project keeps rows`,
      );
  }
  if (details.length === 0) return undefined;
  const old = details.length === 1 ? 'one of its queries is' : `${details.length} of its queries are`;
  return new CallerStatsError(
    'invalid',
    `Nothing of this was recorded: ${old} from before ${since}. The retention of the project has removed the rows of ` +
      'that time, so nobody can tell any more whether a query of it was counted already. Leave them out.',
    { details },
  );
}
