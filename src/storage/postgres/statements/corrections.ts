/** Reads the rows of queries for corrections, and moves them between counters. A withdrawn one has the level `-1 - level`. */
import { BUCKET_WIDTHS_MS } from '../../../domain/counting/buckets.js';
import { bucketOf, isCounted } from './shared.js';

const WIDTHS = `(VALUES ${BUCKET_WIDTHS_MS.map((ms, level) => `(${level}, ${ms}::bigint)`).join(', ')}) AS width (level, ms)`;

/** The changes of $2 to $5 (times, callers, levels, queries), once for each level whose counters include them. */
const CHANGED = `unnest($2::bigint[], $3::text[], $4::smallint[], $5::bigint[]) AS changed (time, caller, level, queries)
        JOIN ${WIDTHS} ON width.level >= changed.level`;

const sumOf = (condition: string): string => `coalesce(sum(queries) FILTER (WHERE ${condition}), 0)`;

export function correctionStatements(schema: string) {
  const query = `${schema}.query`;
  const row = `id, occurred_at AS "occurredAt", caller, coalesce(level, 0) AS level`;
  return {
    findEnd: `SELECT id FROM ${query} WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT 1 OFFSET $3`,
    findCounted: `SELECT ${row} FROM ${query} WHERE project_id = $1 AND id > $2 AND id <= $3 AND ${isCounted}
      AND occurred_at >= $4 AND occurred_at < $5 AND ($6::text IS NULL OR caller = $6)
      AND CASE WHEN receipt IS NULL THEN $7 ELSE receipt = ANY ($8::integer[]) END ORDER BY id LIMIT $9`,
    findByIds: `SELECT ${row} FROM ${query} WHERE project_id = $1 AND id = ANY ($2::bytea[]) ORDER BY id`,
    listCorrected: `SELECT id FROM ${schema}.corrected_query
      WHERE project_id = $1 AND correction = $2 AND id > $3 ORDER BY id LIMIT $4`,
    findCorrections: `SELECT id, correction, caller FROM ${schema}.corrected_query
      WHERE project_id = $1 AND id = ANY ($2::bytea[])`,
    noteCorrected: `INSERT INTO ${schema}.corrected_query (project_id, correction, id, caller)
      SELECT project.id, $2::integer, noted.id, noted.caller FROM unnest($3::bytea[], $4::text[]) AS noted (id, caller)
      CROSS JOIN ${schema}.project WHERE project.id = $1`,
    noteLate: `INSERT INTO ${schema}.late_change (project_id, id, day, caller)
      SELECT project.id, noted.id, $2::integer, noted.caller FROM unnest($3::bytea[], $4::text[]) AS noted (id, caller)
      CROSS JOIN ${schema}.project WHERE project.id = $1 ON CONFLICT DO NOTHING`,
    findImported: `SELECT caller, start_at AS start, queries FROM ${schema}.imported_count
      WHERE project_id = $1 AND source = $2 AND withdrawn_by IS NOT DISTINCT FROM $3::integer
        AND (caller, start_at) > ($4, $5) ORDER BY caller, start_at LIMIT $6`,
    findImportedAt: `SELECT caller, start_at AS start, queries, withdrawn_by AS "withdrawnBy" FROM ${schema}.imported_count
      WHERE project_id = $1 AND source = $2
        AND (caller, start_at) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))`,
    markImported: `UPDATE ${schema}.imported_count SET withdrawn_by = $5
      WHERE project_id = $1 AND source = $2 AND caller = $3 AND start_at = ANY ($4::bigint[])`,
    // The rows $2 get the caller $3 and the level $4.
    moveQueries: `UPDATE ${query} SET caller = $3, level = $4 WHERE project_id = $1 AND id = ANY ($2::bytea[])`,
    // Both lock counters in the order in which the function `record` does.
    changeTypeCounters: `INSERT INTO ${schema}.caller_type_counter AS kept (project_id, level, bucket, web, api, other)
      SELECT project.id, sums.level, sums.bucket, sums.web, sums.api, sums.other
      FROM (
        SELECT width.level, ${bucketOf('time', 'ms')} AS bucket, ${sumOf("caller = 'web'")} AS web,
          ${sumOf("caller = 'api'")} AS api, ${sumOf("caller NOT IN ('web', 'api')")} AS other
        FROM ${CHANGED} GROUP BY 1, 2
      ) AS sums
      CROSS JOIN ${schema}.project WHERE project.id = $1
      ORDER BY sums.level, sums.bucket
      ON CONFLICT (project_id, level, bucket) DO UPDATE SET
        web = kept.web + excluded.web, api = kept.api + excluded.api, other = kept.other + excluded.other
      RETURNING level, bucket, web + api + other AS queries`,
    changeCallerCounters: `INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
      SELECT project.id, sums.level, sums.bucket, sums.caller, sums.queries
      FROM (
        SELECT width.level, ${bucketOf('time', 'ms')} AS bucket, caller, sum(queries) AS queries
        FROM ${CHANGED} WHERE caller NOT IN ('web', 'api') GROUP BY 1, 2, 3
      ) AS sums
      CROSS JOIN ${schema}.project WHERE project.id = $1
      ORDER BY sums.level, sums.bucket, sums.caller
      ON CONFLICT (project_id, level, bucket, caller) DO UPDATE SET queries = kept.queries + excluded.queries
      RETURNING level, bucket, queries`,
    // The buckets $3 of the level $2 that have become zero, which this transaction has locked.
    removeTypeZeros: `DELETE FROM ${schema}.caller_type_counter WHERE project_id = $1 AND level = $2
      AND bucket = ANY ($3::bigint[]) AND web = 0 AND api = 0 AND other = 0`,
    removeCallerZeros: `DELETE FROM ${schema}.caller_counter WHERE project_id = $1 AND level = $2
      AND bucket = ANY ($3::bigint[]) AND queries = 0`,
  };
}
