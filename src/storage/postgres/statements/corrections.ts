/** Reads the rows of queries for corrections, and moves them between counters. A withdrawn one has the level `-1 - level`. */
import { BUCKET_WIDTHS_MS } from '../../../domain/counting/buckets.js';
import { pageCorrectionsMax } from '../../../domain/limits.js';
import { bucketOf, isCounted } from './shared.js';

const WIDTHS = `(VALUES ${BUCKET_WIDTHS_MS.map((ms, level) => `(${level}, ${ms}::bigint)`).join(', ')}) AS width (level, ms)`;

/** The changes of $2 to $5 (times, callers, levels, queries), once for each level whose counters include them. */
const CHANGED = `unnest($2::bigint[], $3::text[], $4::smallint[], $5::bigint[]) AS changed (time, caller, level, queries)
        JOIN ${WIDTHS} ON width.level >= changed.level`;

const sumOf = (condition: string): string => `coalesce(sum(queries) FILTER (WHERE ${condition}), 0)`;

export function correctionStatements(schema: string) {
  const query = `${schema}.query`;
  const since = `(SELECT number, sender FROM ${schema}.receipt WHERE project_id = $1 AND day >= $6) AS since`;
  const page = `(
          SELECT id, caller, level, occurred_at, receipt FROM ${query}
          WHERE project_id = $1 AND id > $2 AND id <= $3 AND occurred_at >= $4 AND occurred_at < $5
        ) AS page`;
  const late = `(
          SELECT DISTINCT id FROM ${schema}.late_change
          WHERE project_id = $1 AND id > $2 AND id <= $3 AND day >= $6
            AND id NOT IN (SELECT id FROM ${schema}.corrected_query WHERE project_id = $1 AND id > $2 AND id <= $3)
        ) AS late`;
  // What is noted of a query; of a corrected one, not what was before corrections were noted as well.
  const knownOf = (id: string, and = ''): string =>
    `(SELECT json_agg(json_build_object('day', day, 'caller', caller,
            'isWithdrawn', is_withdrawn, 'isCorrected', is_corrected))::text FROM ${schema}.late_change
          WHERE project_id = $1 AND late_change.id = ${id} ${and})`;
  const row = `id, occurred_at AS "occurredAt", caller, coalesce(level, 0) AS level`;
  return {
    findEnd: `SELECT least(
        (SELECT id FROM ${query} WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT 1 OFFSET $3),
        (SELECT id FROM ${schema}.corrected_query WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT 1 OFFSET ${pageCorrectionsMax})
      ) AS id`,
    findCounted: `SELECT ${row} FROM ${query} WHERE project_id = $1 AND id > $2 AND id <= $3 AND ${isCounted}
      AND occurred_at >= $4 AND occurred_at < $5 AND ($6::text IS NULL OR caller = $6)
      AND CASE WHEN receipt IS NULL THEN $7 ELSE receipt = ANY ($8::integer[]) END ORDER BY id LIMIT $9`,
    // The queries of a page, $2 to $3, within $4 to $5, with the sender if they arrived on the day $6 or later. Those are alike that
    // occurred both before $7 or not, and in the same span of $8.
    findPast: `SELECT caller, false AS "isWithdrawn", first, last, queries, "arrivedFrom",
        NULL AS corrections, NULL AS "firstCaller", NULL AS known
      FROM (
        SELECT caller, sender AS "arrivedFrom", min(occurred_at) AS first, max(occurred_at) AS last, count(*) AS queries
        FROM ${page} LEFT JOIN ${since} ON since.number = page.receipt
        WHERE ${isCounted} AND id NOT IN (SELECT id FROM ${schema}.corrected_query WHERE project_id = $1 AND id > $2 AND id <= $3)
          AND id NOT IN (SELECT id FROM ${late})
        GROUP BY caller, sender, occurred_at < $7, (occurred_at - $4::bigint) / $8::bigint
      ) AS alike
      UNION ALL
      SELECT page.caller, coalesce(level, 0) < 0, occurred_at, occurred_at, 1, sender,
        numbers, callers[1], ${knownOf('corrected.id', 'AND is_corrected IS NOT NULL')}
      FROM (
        SELECT id, string_agg(correction::text, ',') AS numbers, array_agg(caller ORDER BY correction) AS callers
        FROM ${schema}.corrected_query WHERE project_id = $1 AND id > $2 AND id <= $3 GROUP BY id
      ) AS corrected
      JOIN ${page} ON page.id = corrected.id
      LEFT JOIN ${since} ON since.number = page.receipt
      UNION ALL
      SELECT page.caller, coalesce(level, 0) < 0, occurred_at, occurred_at, 1, sender, NULL, NULL, ${knownOf('late.id')}
      FROM ${late} JOIN ${page} ON page.id = late.id
      LEFT JOIN ${since} ON since.number = page.receipt`,
    findByIds: `SELECT ${row} FROM ${query} WHERE project_id = $1 AND id = ANY ($2::bytea[]) ORDER BY id`,
    listCorrected: `SELECT id FROM ${schema}.corrected_query
      WHERE project_id = $1 AND correction = $2 AND id > $3 ORDER BY id LIMIT $4`,
    findCorrections: `SELECT id, correction, caller FROM ${schema}.corrected_query
      WHERE project_id = $1 AND id = ANY ($2::bytea[])`,
    findEffective: `SELECT corrected.id, correction, caller, action, to_caller AS "to", undone_by AS "undoneBy"
      FROM (
        SELECT id, correction, caller, min(correction) OVER (PARTITION BY id) AS first
        FROM ${schema}.corrected_query WHERE project_id = $1 AND id = ANY ($2::bytea[])
      ) AS corrected
      JOIN (
        SELECT number, action, to_caller, undone_by FROM ${schema}.correction WHERE project_id = $1
      ) AS made ON number = correction
      WHERE undone_by IS NULL OR correction = first`,
    noteCorrected: `INSERT INTO ${schema}.corrected_query (project_id, correction, id, caller)
      SELECT project.id, $2::integer, noted.id, noted.caller FROM unnest($3::bytea[], $4::text[]) AS noted (id, caller)
      CROSS JOIN ${schema}.project WHERE project.id = $1`,
    findLate: `SELECT DISTINCT id FROM ${schema}.late_change WHERE project_id = $1 AND id = ANY ($2::bytea[])`,
    noteLate: `INSERT INTO ${schema}.late_change (project_id, id, day, caller, is_withdrawn, is_corrected)
      SELECT project.id, noted.id, noted.day, noted.caller, noted.is_withdrawn, noted.is_corrected
      FROM unnest($2::bytea[], $3::integer[], $4::text[], $5::integer[], $6::integer[])
        AS noted (id, day, caller, is_withdrawn, is_corrected)
      CROSS JOIN ${schema}.project WHERE project.id = $1 ON CONFLICT DO NOTHING`,
    findImported: `SELECT caller, start_at AS start, queries FROM ${schema}.imported_count
      WHERE project_id = $1 AND source = $2 AND withdrawn_by IS NOT DISTINCT FROM $3::integer
        AND (caller, start_at) > ($4, $5) ORDER BY caller, start_at LIMIT $6`,
    findImportedAt: `SELECT caller, start_at AS start, queries, withdrawn_by AS "withdrawnBy" FROM ${schema}.imported_count
      WHERE project_id = $1 AND source = $2
        AND (caller, start_at) IN (SELECT * FROM unnest($3::text[], $4::bigint[]))`,
    markImported: `UPDATE ${schema}.imported_count SET withdrawn_by = $5
      WHERE project_id = $1 AND source = $2 AND caller = $3 AND start_at = ANY ($4::bigint[])`,
    noteWithdrawn: `INSERT INTO ${schema}.withdrawn_count (project_id, source, caller, start_at, correction)
      SELECT project.id, $2::text, $3::text, noted.start_at, $5::integer FROM unnest($4::bigint[]) AS noted (start_at)
      CROSS JOIN ${schema}.project WHERE project.id = $1 ON CONFLICT DO NOTHING`,
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
