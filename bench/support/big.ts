/**
 * The largest database that is measured: made once for all benchmarks of a run, because that takes minutes. Whoever writes
 * takes a copy.
 */
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { BUCKET_WIDTHS_MS } from '../../src/domain/buckets.js';
import type { DateRange } from '../../src/domain/date-range.js';
import { type Event, makeEvents, YEAR } from './events.js';
import { Database, projectId } from './service.js';
import type { Workspace } from './workspace.js';

const dayMs = 86_400_000;

/** The day that all queries of the hot project came in. */
export const HOT_DAY: DateRange = { from: YEAR.to, to: YEAR.to + dayMs };

export const hotProjectId = 'hot';

export interface Big {
  readonly database: Database;
  /** Of all that it takes to keep the queries of one project. */
  readonly bytesPerQuery: number;
  readonly importSeconds: number;
}

export interface BigOptions {
  /** Of each of its two projects. */
  readonly lines: number;
  readonly note: (line: string) => void;
}

/** Of the first project: over a year. */
export const bigEvents = (lines: number): Generator<Event> => makeEvents(lines, 10);

/** Of the hot project: the same, in one day. */
export function* hotEvents(lines: number): Generator<Event> {
  for (const event of bigEvents(lines)) yield { ...event, occurredAt: hotTime(event.occurredAt) };
}

const daysOfYear = (YEAR.to - YEAR.from) / dayMs;

function hotTime(timeMs: number): number {
  return HOT_DAY.from + Math.floor((timeMs - YEAR.from) / daysOfYear);
}

const made = new WeakMap<Workspace, Map<number, Promise<Big>>>();

/** Has it made, or gives the one that was. */
export function bigDatabase(workspace: Workspace, options: BigOptions): Promise<Big> {
  const bySize = made.get(workspace) ?? new Map<number, Promise<Big>>();
  made.set(workspace, bySize);
  const big = bySize.get(options.lines) ?? make(workspace, options);
  bySize.set(options.lines, big);
  return big;
}

async function make(workspace: Workspace, { lines, note }: BigOptions): Promise<Big> {
  note(`recording ${lines} events`);
  const database = await Database.create(workspace, `big-${lines}`);
  const importSeconds = await database.importEvents(bigEvents(lines), lines);
  const bytesPerQuery = database.sizeBytes() / lines;
  note(`recording ${lines} events of one day`);
  await database.createProject(hotProjectId);
  database.change(fillHotProject);
  return { database, bytesPerQuery, importSeconds };
}

/** A project's number, in SQL. */
export function numberOf(id: string): string {
  return `(SELECT number FROM project WHERE id = '${id}')`;
}

/**
 * Copies the queries of the other project into one day, and counts them as recording does, but in a tenth of its time. The
 * benchmark compares what is then answered with a recount.
 */
function fillHotProject(db: DatabaseSyncInstance): void {
  const hot = numberOf(hotProjectId);
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
