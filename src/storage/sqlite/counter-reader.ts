/** Everything that is answered from the counters. Runs on the main thread, as the other reads do. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { type Segment, segmentsOf } from '../../domain/buckets.js';
import { type CallerCounts, type Counts, toCallerCounts, withTotal } from '../../domain/counts.js';
import type { DateRange } from '../../domain/date-range.js';
import { countsOfSeries, segmentsOfSeries } from '../../domain/series-cut.js';
import type { Connection } from './connection.js';

/** What follows `WITH`: the project's number, and the segments that are asked for, by their columns. */
const ASKED = 'asked (number) AS (SELECT number FROM project WHERE id = ?)';

/** The rows of a table of counters that the segments have. The order of the joins is the order of the look-ups. */
const countersIn = (table: 'type_counter' | 'caller_counter'): string =>
  `asked CROSS JOIN segment CROSS JOIN ${table} AS counter
   ON counter.project = asked.number AND counter.level = segment.level
     AND counter.bucket >= segment.first AND counter.bucket < segment."end"`;

export class CounterReader {
  readonly #db: Connection;
  readonly #findExtent: StatementSyncInstance;
  readonly #sumSeries: StatementSyncInstance;
  /** Statements over a number of segments, by that number. */
  readonly #sums: (StatementSyncInstance | undefined)[] = [];
  readonly #callers: (StatementSyncInstance | undefined)[] = [];

  constructor(db: Connection) {
    this.#db = db;
    // Two look-ups, each of one end of the key; min and max together would read all that is between.
    const end = (order: string): string =>
      `(SELECT bucket FROM type_counter WHERE project = number AND level = 0 ORDER BY bucket ${order} LIMIT 1)`;
    this.#findExtent = db.prepare(
      `SELECT ${end('ASC')} AS first, ${end('DESC')} AS last FROM project WHERE id = ?`,
    );
    this.#sumSeries = this.#prepare(`
      WITH ${ASKED}, segment (sum, level, first, "end") AS MATERIALIZED (
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)
      )
      SELECT segment.sum, sum(web), sum(api), sum(other) FROM ${countersIn('type_counter')} GROUP BY segment.sum`);
  }

  count(projectId: string, range: DateRange): Counts {
    const segments = segmentsOf(range);
    if (segments.length === 0) return withTotal({ web: 0, api: 0, other: 0 });
    const [web, api, other] = this.#sumOf(segments.length).get(projectId, ...boundsOf(segments));
    return withTotal({ web, api, other });
  }

  countSeries(projectId: string, bounds: readonly number[]): Counts[] {
    const segments = segmentsOfSeries(bounds);
    const asked = JSON.stringify(segments.map(({ sum, level, first, end }) => [sum, level, first, end]));
    const rows = this.#sumSeries.all(projectId, asked) as unknown as [number, number, number, number][];
    return countsOfSeries(bounds, new Map(rows.map(([sum, web, api, other]) => [sum, { web, api, other }])));
  }

  countCallers(projectId: string, range: DateRange): CallerCounts {
    const segments = segmentsOf(range);
    if (segments.length === 0) return toCallerCounts([]);
    const rows = this.#callersOf(segments.length).all(projectId, ...boundsOf(segments));
    return toCallerCounts(rows as unknown as [string, number][]);
  }

  findExtent(projectId: string): DateRange | undefined {
    const row = this.#findExtent.get(projectId);
    if (row === undefined || row.first === null) return undefined;
    return { from: row.first, to: row.last + 1 };
  }

  /** All segments in one statement: one snapshot, and cheaper than a statement each. */
  #sumOf(segments: number): StatementSyncInstance {
    this.#sums[segments] ??= this.#prepare(`
      WITH ${ASKED}, ${segmentsGiven(segments)}
      SELECT coalesce(sum(web), 0), coalesce(sum(api), 0), coalesce(sum(other), 0) FROM ${countersIn('type_counter')}`);
    return this.#sums[segments];
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

function segmentsGiven(segments: number): string {
  const values = Array.from({ length: segments }, () => '(?, ?, ?)').join(', ');
  return `segment (level, first, "end") AS (VALUES ${values})`;
}

function boundsOf(segments: readonly Segment[]): number[] {
  return segments.flatMap(({ level, first, end }) => [level, first, end]);
}
