/** Removes the rows of queries that retention has passed. */
import { bucketWidthMs, DAY_LEVEL, ROW_LEVELS } from '../../../domain/counting/buckets.js';
import { COUNTED_LEVEL } from '../../../domain/projects/retention.js';
import { bucketOf, COUNTS, narrowerThan } from './shared.js';

/** The queries of $2 to $4 (times, callers, levels), once for each level whose counters do not include them. */
const SWEPT = `unnest($2::bigint[], $3::text[], $4::smallint[]) AS swept (occurred_at, caller, row_level)
        JOIN ${narrowerThan(ROW_LEVELS[1])} ON narrower.level < swept.row_level`;

export function retentionStatements(schema: string) {
  const retentionOf = (project: string, condition: string) =>
    `SELECT id, retention_days AS "retentionDays", rows_from AS "rowsFrom", swept_id AS "sweptTo",
        (SELECT max(bucket) FROM ${schema}.caller_type_counter WHERE project_id = ${project} AND level = ${COUNTED_LEVEL}
          AND bucket < project.rows_from / ${bucketWidthMs(COUNTED_LEVEL)}) AS "lastCounted"
      FROM ${schema}.project WHERE ${condition}`;
  return {
    listRetentions: retentionOf(
      'project.id',
      `deleted_at IS NULL AND (retention_days IS NOT NULL OR rows_from IS NOT NULL OR swept_id IS NOT NULL) AND NOT EXISTS (
        SELECT FROM ${schema}.correction WHERE project_id = project.id AND finished_at IS NULL) ORDER BY id`,
    ),
    lockRetention: retentionOf('$1', 'id = $1 AND deleted_at IS NULL FOR UPDATE'),
    // Not while a correction is carried out, which needs the rows.
    findUnfinished: `SELECT number FROM ${schema}.correction WHERE project_id = $1 AND finished_at IS NULL LIMIT 1`,
    // Whether there is a counter of the days from $2 to before $3.
    findDays: `SELECT bucket FROM ${schema}.caller_type_counter
      WHERE project_id = $1 AND level = ${DAY_LEVEL} AND bucket >= $2 AND bucket < $3 LIMIT 1`,
    moveRowsFrom: `UPDATE ${schema}.project SET rows_from = $2, swept_id = $3 WHERE id = $1`,
    // The $3 rows after the id $2.
    readSwept: `SELECT id, occurred_at AS "occurredAt" FROM ${schema}.query
      WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
    removeSwept: `DELETE FROM ${schema}.query WHERE project_id = $1 AND id = ANY ($2::bytea[])
      RETURNING occurred_at AS "occurredAt", caller, coalesce(level, 0) AS level`,
    // What is stored about their ids, which may be used again.
    removeSweptCorrections: `DELETE FROM ${schema}.corrected_query WHERE project_id = $1 AND id = ANY ($2::bytea[])`,
    removeSweptChanges: `DELETE FROM ${schema}.late_change WHERE project_id = $1 AND id = ANY ($2::bytea[])`,
    // Locks counters in the order in which the function `import_counts` does.
    countSweptTypes: `INSERT INTO ${schema}.caller_type_counter AS kept (project_id, level, bucket, web, api, other)
      SELECT project.id, sums.level, sums.bucket, sums.web, sums.api, sums.other
      FROM (
        SELECT level, ${bucketOf('occurred_at', 'ms')} AS bucket, ${COUNTS.web} AS web,
          ${COUNTS.api} AS api, ${COUNTS.other} AS other
        FROM ${SWEPT} GROUP BY 1, 2
      ) AS sums
      CROSS JOIN ${schema}.project WHERE project.id = $1
      ORDER BY sums.level, sums.bucket
      ON CONFLICT (project_id, level, bucket) DO UPDATE SET
        web = kept.web + excluded.web, api = kept.api + excluded.api, other = kept.other + excluded.other`,
    countSweptCallers: `INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
      SELECT project.id, sums.level, sums.bucket, sums.caller, sums.queries
      FROM (
        SELECT level, ${bucketOf('occurred_at', 'ms')} AS bucket, caller, count(*) AS queries
        FROM ${SWEPT} WHERE caller NOT IN ('web', 'api') GROUP BY 1, 2, 3
      ) AS sums
      CROSS JOIN ${schema}.project WHERE project.id = $1
      ORDER BY sums.level, sums.bucket, sums.caller
      ON CONFLICT (project_id, level, bucket, caller) DO UPDATE SET queries = kept.queries + excluded.queries`,
    noteSwept: `UPDATE ${schema}.project SET swept_id = $2 WHERE id = $1`,
  };
}
