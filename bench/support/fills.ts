/**
 * Projects that have what the first one has, but in another way. They are filled by SQL, in less than half of the time that an
 * import takes, and counted as recording does. What is then answered of the one of one day is compared with a recount, and of the
 * one of random ids the total.
 */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import type { DateRange } from '../../src/domain/counting/date-range.js';
import { YEAR } from './events.js';
import { projectId } from './service.js';

const dayMs = 86_400_000;
const daysOfYear = (YEAR.to - YEAR.from) / dayMs;

/** The day that all queries of the hot project came in. */
export const HOT_DAY: DateRange = { from: YEAR.to, to: YEAR.to + dayMs };

/** When a query of the hot project came in that came in over the year in the first one. */
export function hotTime(timeMs: number): number {
  return HOT_DAY.from + Math.floor((timeMs - YEAR.from) / daysOfYear);
}

/** The projects that can be filled, each of which must be there and empty. */
export const FILLS = { hot: fillHot, random: fillRandom };

/** A project's number, in SQL. */
function numberOf(id: string): string {
  return `(SELECT number FROM project WHERE id = '${id}')`;
}

/** All of it in one day. */
function fillHot(db: DatabaseSyncInstance): void {
  const hot = numberOf('hot');
  db.exec(`
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -262144;
    BEGIN;
    INSERT INTO query (project, id, occurred_at, caller)
      SELECT ${hot}, id, ${HOT_DAY.from} + (occurred_at - ${YEAR.from}) / ${daysOfYear}, caller
      FROM query WHERE project = ${numberOf(projectId)};
    INSERT INTO type_counter (project, level, bucket, web, api, other)
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

/** The times are after 1970: what is divided is floored. */
function widerCounters(project: string, below: number, times: number): string {
  return `
    INSERT INTO type_counter (project, level, bucket, web, api, other)
      SELECT project, ${below + 1}, bucket / ${times}, sum(web), sum(api), sum(other)
      FROM type_counter WHERE project = ${project} AND level = ${below} GROUP BY 3;
    INSERT INTO caller_counter (project, level, bucket, caller, queries)
      SELECT project, ${below + 1}, bucket / ${times}, caller, sum(queries)
      FROM caller_counter WHERE project = ${project} AND level = ${below} GROUP BY 3, 4;`;
}

/** Only the ids differ. They are as if drawn and then sorted, but each in a stretch of its own: a sort takes longer than the rest. */
function fillRandom(db: DatabaseSyncInstance): void {
  const [from, to] = [numberOf(projectId), numberOf('random')];
  db.exec(`
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -262144;
    BEGIN;
    INSERT INTO query (project, id, occurred_at, caller)
      SELECT ${to}, unhex(printf('%012x', (place + random() / ${2 ** 64} - 0.5) * width) || hex(randomblob(10))), occurred_at, caller
      FROM
        (SELECT ${2 ** 48} / count(*) AS width FROM query WHERE project = ${from}) CROSS JOIN
        (SELECT occurred_at, caller, row_number() OVER () AS place FROM query WHERE project = ${from});
    INSERT INTO type_counter (project, level, bucket, web, api, other)
      SELECT ${to}, level, bucket, web, api, other FROM type_counter WHERE project = ${from};
    INSERT INTO caller_counter (project, level, bucket, caller, queries)
      SELECT ${to}, level, bucket, caller, queries FROM caller_counter WHERE project = ${from};
    COMMIT;`);
}
