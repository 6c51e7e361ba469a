/**
 * A project with the same number of queries as the first one, all within one day. SQL fills it in less than half the time of
 * an import, and counts all queries in counters of every level, as recording does where there are many. Its answers are compared with a recount.
 */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { YEAR } from './events.js';
import { projectId } from './service.js';

const daysOfYear = (YEAR.to - YEAR.from) / dayMs;

/** The day of all queries in the hot project. */
export const HOT_DAY: DateRange = { from: YEAR.to, to: YEAR.to + dayMs };

/** Maps a time within the year to a time within the hot day. */
export function hotTime(timeMs: number): number {
  return HOT_DAY.from + Math.floor((timeMs - YEAR.from) / daysOfYear);
}

/** A project's number, in SQL. */
function parseNumber(id: string): string {
  return `(SELECT number FROM project WHERE id = '${id}')`;
}

/** Fills the project `hot`, which must exist and be empty. */
export function fillHot(db: DatabaseSyncInstance): void {
  const hot = parseNumber('hot');
  db.exec(`
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -262144;
    BEGIN;
    INSERT INTO query (project, id, occurred_at, caller)
      SELECT ${hot}, id, ${HOT_DAY.from} + (occurred_at - ${YEAR.from}) / ${daysOfYear}, caller
      FROM query WHERE project = ${parseNumber(projectId)};
    INSERT INTO query_counter (project, level, bucket, web, api, other)
      SELECT project, 0, occurred_at, sum(caller = 0), sum(caller = 1), sum(caller > 1)
      FROM query WHERE project = ${hot} GROUP BY occurred_at;
    INSERT INTO caller_counter (project, level, bucket, caller, queries)
      SELECT project, 0, occurred_at, caller, count(*)
      FROM query WHERE project = ${hot} AND caller > 1 GROUP BY occurred_at, caller;
    ${BUCKET_WIDTHS_MS.slice(1)
      .map((width, below) => widerCounters(hot, below, width / (BUCKET_WIDTHS_MS[below] ?? 1)))
      .join('')}
    COMMIT;`);
}

/** Times are after 1970, so integer division rounds down. */
function widerCounters(project: string, below: number, times: number): string {
  return `
    INSERT INTO query_counter (project, level, bucket, web, api, other)
      SELECT project, ${below + 1}, bucket / ${times}, sum(web), sum(api), sum(other)
      FROM query_counter WHERE project = ${project} AND level = ${below} GROUP BY 3;
    INSERT INTO caller_counter (project, level, bucket, caller, queries)
      SELECT project, ${below + 1}, bucket / ${times}, caller, sum(queries)
      FROM caller_counter WHERE project = ${project} AND level = ${below} GROUP BY 3, 4;`;
}
