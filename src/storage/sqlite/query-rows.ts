/** The rows of queries for corrections. The row of a withdrawn query has the caller `-1 - caller`. */
import { pageCorrectionsMax } from '../../domain/limits.js';
import { dayOf } from '../../domain/queries/receipt.js';
import type {
  CorrectedRow,
  CountPlace,
  EffectiveRow,
  ImportedFilter,
  ImportedRow,
  PastFilter,
  PastRow,
  QueryFilter,
  QueryRow,
  QueryRows,
} from '../sql/corrections/query-rows.js';
import type { CountRow } from '../sql/received-rows.js';
import type { Session } from '../sql/session.js';
import { decodeQueryId, encodeQueryId } from './query-id.js';

type StoredId = string | Uint8Array;

type StoredRow = Omit<QueryRow, 'id' | 'isWithdrawn'> & {
  readonly id: StoredId;
  readonly isWithdrawn: number;
};

const SELECT = `SELECT query.id, occurred_at AS "occurredAt", name AS caller, query.caller < 0 AS "isWithdrawn", 0 AS level
  FROM query JOIN caller ON number = CASE WHEN query.caller < 0 THEN -1 - query.caller ELSE query.caller END`;

/** The sender of a query that arrived on the day $6 or later. */
const ARRIVED_FROM = `(SELECT sender FROM receipt WHERE receipt.project = $1 AND number = query.receipt AND day >= $6)`;

/** What is noted of a query; of a corrected one, not what was before corrections were noted as well. */
const knownOf = (id: string, and = ''): string =>
  `(SELECT json_group_array(json_object('day', day, 'caller', name,
      'isWithdrawn', is_withdrawn, 'isCorrected', is_corrected)) FROM late_change AS noted
    JOIN caller AS earlier ON earlier.number = noted.caller WHERE noted.project = $1 AND noted.id = ${id} ${and})`;

/**
 * The queries of a page, $2 to $3, within $4 to $5. Those are alike that occurred both before $7 or not, and in the same span of $8.
 * The driver binds numbers as floating-point ones, whose division has no remainder.
 */
const PAST = `
  WITH late AS (
    SELECT DISTINCT id FROM late_change AS late
    WHERE project = $1 AND id > $2 AND id <= $3 AND day >= $6
      AND id NOT IN (SELECT id FROM corrected_query WHERE project = $1 AND id > $2 AND id <= $3)
  )
  SELECT caller.name AS caller, 0 AS "isWithdrawn", first, last, queries, "arrivedFrom",
    NULL AS corrections, NULL AS "firstCaller", NULL AS known
  FROM (
    SELECT caller, ${ARRIVED_FROM} AS "arrivedFrom", min(occurred_at) AS first, max(occurred_at) AS last, count(*) AS queries
    FROM query
    WHERE project = $1 AND id > $2 AND id <= $3 AND occurred_at >= $4 AND occurred_at < $5
      AND id NOT IN (SELECT id FROM corrected_query WHERE project = $1 AND id > $2 AND id <= $3)
      AND id NOT IN (SELECT id FROM late)
    GROUP BY caller, "arrivedFrom", occurred_at < $7, (occurred_at - CAST($4 AS INTEGER)) / CAST($8 AS INTEGER)
  ) AS alike
  JOIN caller ON caller.number = alike.caller
  UNION ALL
  SELECT caller.name, query.caller < 0, occurred_at, occurred_at, 1, ${ARRIVED_FROM}, numbers,
    (SELECT name FROM corrected_query AS one INDEXED BY corrected_query_by_id JOIN caller AS earlier ON earlier.number = one.caller
      WHERE project = $1 AND one.id = corrected.id ORDER BY correction LIMIT 1),
    ${knownOf('corrected.id', 'AND is_corrected IS NOT NULL')}
  FROM (
    SELECT id, group_concat(correction) AS numbers FROM corrected_query INDEXED BY corrected_query_by_id
    WHERE project = $1 AND id > $2 AND id <= $3 GROUP BY id
  ) AS corrected
  CROSS JOIN query ON query.project = $1 AND query.id = corrected.id
  JOIN caller ON caller.number = CASE WHEN query.caller < 0 THEN -1 - query.caller ELSE query.caller END
  WHERE occurred_at >= $4 AND occurred_at < $5
  UNION ALL
  SELECT caller.name, query.caller < 0, occurred_at, occurred_at, 1, ${ARRIVED_FROM}, NULL, NULL, ${knownOf('late.id')}
  FROM late
  CROSS JOIN query ON query.project = $1 AND query.id = late.id
  JOIN caller ON caller.number = CASE WHEN query.caller < 0 THEN -1 - query.caller ELSE query.caller END
  WHERE occurred_at >= $4 AND occurred_at < $5`;

const AFTER_COUNT =
  '(source, caller, start_at) > ($2, coalesce((SELECT number FROM caller WHERE name = $3), -1), $4)';

/**
 * Selects a page of the imported counts of a project: $5 rows after the source $2, the name of the caller $3 and the start $4, in the
 * order of these, or fewer if they were withdrawn often.
 */
export const selectCounts = (project: string): string => `
  SELECT source, caller.name AS caller, start_at AS start, end_at AS "end", queries AS count, day, withdrawn_by AS "withdrawnBy", withdrawals
  FROM (
    SELECT *, (SELECT group_concat(correction) FROM withdrawn_count AS withdrawn WHERE withdrawn.project = counted.project
        AND withdrawn.source = counted.source AND withdrawn.caller = counted.caller
        AND withdrawn.start_at = counted.start_at) AS withdrawals
    FROM (
      SELECT * FROM imported_count WHERE project = ${project} AND ${AFTER_COUNT} ORDER BY source, caller, start_at LIMIT $5
    ) AS counted
    WHERE ((source, caller, start_at) > (
        SELECT source, caller, start_at FROM withdrawn_count WHERE project = ${project} AND ${AFTER_COUNT}
        ORDER BY source, caller, start_at LIMIT 1 OFFSET ${pageCorrectionsMax}
      )) IS NOT TRUE
  ) AS page
  JOIN caller ON caller.number = page.caller
  ORDER BY page.source, page.caller, page.start_at`;

/** Comes after every id. */
const AFTER_ALL = Buffer.alloc(17, 0xff);

/** Texts sort before blobs, so '' comes before every id. */
const encodeAfter = (id: string | undefined): StoredId => (id === undefined ? '' : encodeQueryId(id));

export class SqliteQueryRows implements QueryRows {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async findPast(project: unknown, filter: PastFilter): Promise<PastRow[]> {
    type Found = Omit<PastRow, 'isWithdrawn'> & { readonly isWithdrawn: number };
    const { after, last, from, to, atMs, spanMs } = filter;
    const rows = await this.#session.all<Found>(PAST, [
      ...[project, encodeAfter(after), last === undefined ? AFTER_ALL : encodeQueryId(last), from, to],
      ...[dayOf(atMs), atMs, spanMs],
    ]);
    return rows.map((row) => ({ ...row, isWithdrawn: row.isWithdrawn === 1 }));
  }

  async findPastCounts(project: unknown, after: CountPlace, limit: number): Promise<CountRow[]> {
    const values = [project, after.source, after.caller, after.start, limit];
    return this.#session.all(selectCounts('$1'), values);
  }

  async findEnd(project: unknown, after: string | undefined, rows: number): Promise<string | undefined> {
    const [end] = await this.#session.all<{ readonly id: StoredId | null }>(
      `SELECT min(id) AS id FROM (
         SELECT (SELECT id FROM query WHERE project = $1 AND id > $2 ORDER BY id LIMIT 1 OFFSET $3) AS id
         UNION ALL SELECT (SELECT id FROM corrected_query INDEXED BY corrected_query_by_id
           WHERE project = $1 AND id > $2 ORDER BY id LIMIT 1 OFFSET ${pageCorrectionsMax}))`,
      [project, encodeAfter(after), rows - 1],
    );
    return end?.id == null ? undefined : decodeQueryId(end.id);
  }

  async find(project: unknown, filter: QueryFilter): Promise<QueryRow[]> {
    const { after, last, from, to, caller, receipts, withoutReceipt, limit } = filter;
    const rows = await this.#session.all<StoredRow>(
      `${SELECT} WHERE query.project = $1 AND query.id > $2 AND query.caller >= 0
         AND occurred_at >= $3 AND occurred_at < $4
         AND CASE WHEN receipt IS NULL THEN $5 ELSE receipt IN (SELECT value FROM json_each($6)) END
         AND ($7 IS NULL OR name = $7) AND query.id <= $8
       ORDER BY query.id LIMIT $9`,
      [
        ...[project, encodeAfter(after), from, to, withoutReceipt ? 1 : 0, JSON.stringify(receipts), caller],
        ...[last === undefined ? AFTER_ALL : encodeQueryId(last), limit],
      ],
    );
    return rows.map(toQueryRow);
  }

  async findByIds(project: unknown, ids: readonly string[]): Promise<QueryRow[]> {
    const found: QueryRow[] = [];
    for (const id of ids) {
      const sql = `${SELECT} WHERE query.project = $1 AND query.id = $2`;
      const [row] = await this.#session.all<StoredRow>(sql, [project, encodeQueryId(id)]);
      if (row !== undefined) found.push(toQueryRow(row));
    }
    return found;
  }

  async listCorrected(project: unknown, correction: number, after: string | undefined, limit: number) {
    const rows = await this.#session.all<{ readonly id: StoredId }>(
      'SELECT id FROM corrected_query WHERE project = $1 AND correction = $2 AND id > $3 ORDER BY id LIMIT $4',
      [project, correction, encodeAfter(after), limit],
    );
    return rows.map(({ id }) => decodeQueryId(id));
  }

  /** Without statistics, SQLite would read all corrected queries of the project for each. */
  async findCorrections(project: unknown, ids: readonly string[]): Promise<CorrectedRow[]> {
    return this.#findOfEach(
      project,
      ids,
      `SELECT correction, name AS caller FROM corrected_query INDEXED BY corrected_query_by_id JOIN caller ON number = corrected_query.caller
       WHERE project = $1 AND id = $2`,
    );
  }

  async findEffective(project: unknown, ids: readonly string[]): Promise<EffectiveRow[]> {
    return this.#findOfEach(
      project,
      ids,
      `SELECT correction, name AS caller, action, to_caller AS "to", undone_by AS "undoneBy"
       FROM corrected_query AS corrected INDEXED BY corrected_query_by_id
       CROSS JOIN correction AS made ON made.project = $1 AND made.number = correction
       JOIN caller ON caller.number = corrected.caller
       WHERE corrected.project = $1 AND corrected.id = $2 AND (undone_by IS NULL OR correction = (
         SELECT min(correction) FROM corrected_query INDEXED BY corrected_query_by_id WHERE project = $1 AND id = $2
       ))`,
    );
  }

  /** What a statement finds for the project $1 and each id as $2. */
  async #findOfEach<Row>(
    project: unknown,
    ids: readonly string[],
    sql: string,
  ): Promise<(Row & { readonly id: string })[]> {
    const found: (Row & { readonly id: string })[] = [];
    for (const id of ids) {
      const rows = await this.#session.all<Row>(sql, [project, encodeQueryId(id)]);
      for (const row of rows) found.push({ ...row, id });
    }
    return found;
  }

  async findImported(
    project: unknown,
    { source, withdrawnBy, after, limit }: ImportedFilter,
  ): Promise<ImportedRow[]> {
    return this.#session.all(
      `SELECT name AS caller, start_at AS start, queries FROM imported_count
       JOIN caller ON number = imported_count.caller
       WHERE project = $1 AND source = $2 AND withdrawn_by IS $3
         AND (imported_count.caller, start_at) > (coalesce((SELECT number FROM caller WHERE name = $4), -1), $5)
       ORDER BY imported_count.caller, start_at LIMIT $6`,
      [project, source, withdrawnBy, after.caller, after.start, limit],
    );
  }

  async findImportedAt(
    project: unknown,
    source: string,
    places: readonly Pick<ImportedRow, 'caller' | 'start'>[],
  ) {
    type Found = ImportedRow & { readonly withdrawnBy: number | null };
    const found: Found[] = [];
    for (const { caller, start } of places) {
      const rows = await this.#session.all<Found>(
        `SELECT $3 AS caller, start_at AS start, queries, withdrawn_by AS "withdrawnBy" FROM imported_count
         WHERE project = $1 AND source = $2 AND caller = (SELECT number FROM caller WHERE name = $3) AND start_at = $4`,
        [project, source, caller, start],
      );
      found.push(...rows);
    }
    return found;
  }
}

function toQueryRow({ id, isWithdrawn, ...row }: StoredRow): QueryRow {
  return { ...row, id: decodeQueryId(id), isWithdrawn: isWithdrawn === 1 };
}
