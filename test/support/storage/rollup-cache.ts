/** A rollup cache over a database in memory. */
import type { DateRange } from '../../../src/domain/counting/date-range.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { RollupCache } from '../../../src/storage/sqlite/counters/rollup-cache.js';
import { databaseInMemory, deleteProjectIn, notedRuns, recordInto } from './sqlite.js';

export const nothing = { web: 0, api: 0, other: 0 };

/** How often is asked before anything is kept, and before the ten seconds of a day are, which take more to read. */
export const asksBefore = 15;
export const asksBeforeTens = 255;

/** As many rows take as much room as having been asked for takes, and as having sums takes, however few. */
export const placeRows = 32;
export const sumsRows = 32;

export const days = (from: number, to: number): DateRange => ({ from: from * dayMs, to: to * dayMs });

let queries = 0;

/** Queries of these times, in order of callers web, api and another. */
const queriesAt = (...times: readonly number[]) =>
  times.map((occurredAt, at) => ({
    id: `query ${queries++}`,
    caller: ['web', 'api', 'slack'][at % 3] ?? '',
    occurredAt,
  }));

/** A rollup cache of projects with queries at these times. */
export function openKept({
  rowsMax,
  ...projects
}: { rowsMax?: number } & Record<string, readonly number[] | number>) {
  const db = databaseInMemory();
  const record = (id: string, ...times: readonly number[]) => recordInto(db, id, queriesAt(...times));
  const remove = (projectId: string) => deleteProjectIn(db, projectId);
  for (const [id, times] of Object.entries(projects)) record(id, ...(times as number[]));
  const ran = notedRuns(db);
  const kept = new RollupCache(db, rowsMax);
  const ask = (range: DateRange, times = 1, projectId = 'docs', version = 1) => {
    let known = kept.lookUp(projectId, range, version);
    for (let more = 1; more < times; more++) known = kept.lookUp(projectId, range, version);
    return known;
  };
  const ranOf = (pattern: RegExp) => ran.filter((sql) => pattern.test(sql)).length;
  return {
    db,
    ask,
    record,
    remove,
    reads: () => ranOf(/SELECT bucket/),
    looks: () => ranOf(/SELECT number/),
  };
}
