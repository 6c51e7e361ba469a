/** Everything that is answered from the counters. Runs on the main thread, as the other reads do. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { type Segment, splitIntoBuckets } from '../../../domain/counting/buckets.js';
import {
  addCounts,
  type CallerCounts,
  type Counts,
  type TypeCounts,
  toCallerCounts,
  withTotal,
} from '../../../domain/counting/counts.js';
import type { DateRange } from '../../../domain/counting/date-range.js';
import { combineSeriesCounts, splitSeriesIntoBuckets } from '../../../domain/counting/series-segments.js';
import type { Connection } from '../connection.js';
import type { ReadSnapshot } from './read-snapshot.js';
import { RollupCache } from './rollup-cache.js';
import { VersionedCache } from './versioned-cache.js';

/** What follows `WITH`: the project's number, and the segments that are asked for, by their columns. */
const ASKED = 'asked (number) AS (SELECT number FROM project WHERE id = ?)';

/** The rows of a table of counters that the segments have. The order of the joins is the order of the look-ups. */
const countersIn = (table: 'type_counter' | 'caller_counter'): string =>
  `asked CROSS JOIN segment CROSS JOIN ${table} AS counter
   ON counter.project = asked.number AND counter.level = segment.level
     AND counter.bucket >= segment.first AND counter.bucket < segment."end"`;

/** Of a series, in one statement: more take no less time each, and a statement is prepared for each number up to it. */
const segmentsAtOnce = 64;

/** Of as many buckets as one may have, these take 40 megabytes. */
const seriesKeptMax = 50;

export class CounterReader {
  readonly #db: Connection;
  readonly #version: ReadSnapshot;
  readonly #kept: RollupCache;
  readonly #series: VersionedCache<readonly Counts[]>;
  readonly #findExtent: StatementSyncInstance;
  /** Statements over a number of segments, by that number. */
  readonly #sums: (StatementSyncInstance | undefined)[] = [];
  readonly #sumsOfEach: (StatementSyncInstance | undefined)[] = [];
  readonly #callers: (StatementSyncInstance | undefined)[] = [];

  constructor(db: Connection, version: ReadSnapshot) {
    this.#db = db;
    this.#version = version;
    this.#kept = new RollupCache(db);
    this.#series = new VersionedCache(version, seriesKeptMax);
    // Two look-ups, each of one end of the key; min and max together would read all that is between.
    const end = (order: string): string =>
      `(SELECT bucket FROM type_counter WHERE project = number AND level = 0 ORDER BY bucket ${order} LIMIT 1)`;
    this.#findExtent = db.prepare(
      `SELECT ${end('ASC')} AS first, ${end('DESC')} AS last FROM project WHERE id = ?`,
    );
  }

  count(projectId: string, range: DateRange): Counts {
    return this.#version.run((version) => withTotal(this.#count(projectId, range, version)));
  }

  /** The same, and nothing of it from memory. */
  countUncached(projectId: string, range: DateRange): Counts {
    return withTotal(this.#sum(projectId, splitIntoBuckets(range)));
  }

  countSeries(projectId: string, bounds: readonly number[]): readonly Counts[] {
    return this.#series.get(`${projectId} ${bounds.join()}`, () => this.#countSeries(projectId, bounds));
  }

  countCallers(projectId: string, range: DateRange): CallerCounts {
    const segments = splitIntoBuckets(range);
    if (segments.length === 0) return toCallerCounts([]);
    const rows = this.#callersOf(segments.length).all(projectId, ...boundsOf(segments));
    return toCallerCounts(rows as unknown as [string, number][]);
  }

  findExtent(projectId: string): DateRange | undefined {
    const row = this.#findExtent.get(projectId);
    if (row === undefined || row.first === null) return undefined;
    return { from: row.first, to: row.last + 1 };
  }

  #countSeries(projectId: string, bounds: readonly number[]): Counts[] {
    const segments = splitSeriesIntoBuckets(bounds);
    const sums = new Map<number, TypeCounts>();
    for (let at = 0; at < segments.length; at += segmentsAtOnce) {
      const some = segments.slice(at, at + segmentsAtOnce);
      const rows = this.#sumsOfEachOf(some.length).all(projectId, ...boundsOf(some));
      for (const [row, { sum }] of some.entries()) addTo(sums, sum, rows[row] as unknown as [string | null]);
    }
    return combineSeriesCounts(bounds, sums);
  }

  /** From memory what is kept there, and the rest from the file. */
  #count(projectId: string, range: DateRange, version: number): TypeCounts {
    const { sum, rest } = this.#kept.lookUp(projectId, range, version);
    return addCounts([sum, this.#sum(projectId, rest.flatMap(splitIntoBuckets))]);
  }

  #sum(projectId: string, segments: readonly Segment[]): TypeCounts {
    if (segments.length === 0) return addCounts([]);
    const [web, api, other] = this.#sumOf(segments.length).get(projectId, ...boundsOf(segments));
    return { web, api, other };
  }

  /** All segments in one statement: one snapshot, and cheaper than a statement each. */
  #sumOf(segments: number): StatementSyncInstance {
    this.#sums[segments] ??= this.#prepare(`
      WITH ${ASKED}, ${segmentsGiven(segments)}
      SELECT coalesce(sum(web), 0), coalesce(sum(api), 0), coalesce(sum(other), 0) FROM ${countersIn('type_counter')}`);
    return this.#sums[segments];
  }

  /**
   * The sums of each segment, in order: a text of three numbers, so that one look-up finds them all. Joined and grouped
   * as the other statements are, it would sort; and a list of segments as JSON takes longer to read than their counters.
   */
  #sumsOfEachOf(segments: number): StatementSyncInstance {
    this.#sumsOfEach[segments] ??= this.#prepare(`
      WITH ${ASKED}, ${segmentsGiven(segments)}
      SELECT (
        SELECT sum(web) || ' ' || sum(api) || ' ' || sum(other) FROM type_counter AS counter
        WHERE counter.project = (SELECT number FROM asked) AND counter.level = segment.level
          AND counter.bucket >= segment.first AND counter.bucket < segment."end"
      ) FROM segment`);
    return this.#sumsOfEach[segments];
  }

  #callersOf(segments: number): StatementSyncInstance {
    this.#callers[segments] ??= this.#prepare(`
      WITH ${ASKED}, ${segmentsGiven(segments)}, by_type (web, api) AS MATERIALIZED (
        SELECT coalesce(sum(web), 0), coalesce(sum(api), 0) FROM ${countersIn('type_counter')}
      )
      SELECT 'web', web FROM by_type UNION ALL SELECT 'api', api FROM by_type UNION ALL
      SELECT caller.name, counted.queries
      FROM (SELECT caller, sum(queries) AS queries FROM ${countersIn('caller_counter')} GROUP BY caller) AS counted
      JOIN caller ON caller.number = counted.caller`);
    return this.#callers[segments];
  }

  #prepare(sql: string): StatementSyncInstance {
    const statement = this.#db.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }
}

/** A segment without counters has no sums. */
function addTo(sums: Map<number, TypeCounts>, sum: number, [packed]: [string | null]): void {
  if (packed === null) return;
  const [web = 0, api = 0, other = 0] = packed.split(' ').map(Number);
  const before = sums.get(sum) ?? { web: 0, api: 0, other: 0 };
  sums.set(sum, addCounts([before, { web, api, other }]));
}

function segmentsGiven(segments: number): string {
  const values = Array.from({ length: segments }, () => '(?, ?, ?)').join(', ');
  return `segment (level, first, "end") AS (VALUES ${values})`;
}

function boundsOf(segments: readonly Segment[]): number[] {
  const bounds: number[] = [];
  for (const { level, first, end } of segments) bounds.push(level, first, end);
  return bounds;
}
