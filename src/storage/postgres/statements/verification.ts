/** Recounts the counters. */
import { BUCKET_WIDTHS_MS } from '../../../domain/counting/buckets.js';
import { verifyDifferencesMax } from '../../ports/maintenance.js';
import { bucketOf, COUNTS, isCounted } from './shared.js';

/**
 * Whether a row is recounted for the counters of the level $2. Where these are compared with narrower ones instead, whether
 * those do not include it.
 */
const isRecounted = `(${isCounted}
  AND CASE WHEN occurred_at >= $5 THEN coalesce(level, 0) <= $2 ELSE level = $2 AND $2 > 0 END)`;

export function verificationStatements(schema: string) {
  return {
    // Projects that have rows and do not exist. There are fewest counters of the widest level.
    listStrayIds: `SELECT DISTINCT caller_type_counter.project_id AS id FROM ${schema}.caller_type_counter
      LEFT JOIN ${schema}.project ON project.id = caller_type_counter.project_id
      WHERE caller_type_counter.level = ${BUCKET_WIDTHS_MS.length - 1} AND project.id IS NULL ORDER BY 1`,
    // $2 is the level and $3 its width; $4 to $8 are as `planVerification` returns them. Where retention has removed the rows, the narrowest counters are compared with those by caller.
    differences: `SELECT bucket, coalesce(kept.web, 0) AS web, coalesce(kept.api, 0) AS api,
        coalesce(kept.other, 0) AS other, coalesce(again.web, 0) AS "webAgain", coalesce(again.api, 0) AS "apiAgain",
        coalesce(again.other, 0) AS "otherAgain", count(*) OVER () AS total
      FROM (
        SELECT bucket, web, api, other FROM ${schema}.caller_type_counter WHERE project_id = $1 AND level = $2
      ) AS kept
      FULL JOIN (
        SELECT bucket, sum(web)::bigint AS web, sum(api)::bigint AS api, sum(other)::bigint AS other FROM (
          SELECT ${bucketOf('occurred_at', '$3::bigint')} AS bucket,
            ${COUNTS.web} AS web, ${COUNTS.api} AS api, ${COUNTS.other} AS other
          FROM ${schema}.query WHERE project_id = $1 AND $8::boolean AND ${isRecounted} GROUP BY 1
          UNION ALL
          SELECT ${bucketOf('start_at', '$3::bigint')},
            sum(queries) FILTER (WHERE caller = 'web'), sum(queries) FILTER (WHERE caller = 'api'),
            sum(queries) FILTER (WHERE caller NOT IN ('web', 'api'))
          FROM ${schema}.imported_count WHERE project_id = $1 AND start_at >= $5 AND withdrawn_by IS NULL GROUP BY 1
          UNION ALL
          SELECT ${bucketOf('bucket', '$6::bigint')}, web, api, other FROM ${schema}.caller_type_counter
          WHERE project_id = $1 AND level = $2 - 1 AND bucket < $7
          UNION ALL
          SELECT bucket, web, api, 0 FROM ${schema}.caller_type_counter
          WHERE project_id = $1 AND level = 0 AND $2 = 0 AND bucket < $4
          UNION ALL
          SELECT bucket, 0, 0, queries FROM ${schema}.caller_counter
          WHERE project_id = $1 AND level = 0 AND $2 = 0 AND bucket < $4
        ) AS part GROUP BY bucket
      ) AS again USING (bucket)
      WHERE (coalesce(kept.web, 0), coalesce(kept.api, 0), coalesce(kept.other, 0))
        <> (coalesce(again.web, 0), coalesce(again.api, 0), coalesce(again.other, 0))
      ORDER BY bucket LIMIT ${verifyDifferencesMax}`,
    differencesOfCallers: differencesOfCallers(schema),
  };
}

/** As `differences`, of the counters by caller. */
const differencesOfCallers = (schema: string) =>
  `SELECT bucket, caller, 0 AS web, 0 AS api, coalesce(kept.queries, 0) AS other,
        0 AS "webAgain", 0 AS "apiAgain", coalesce(again.queries, 0) AS "otherAgain", count(*) OVER () AS total
      FROM (
        SELECT bucket, caller, queries FROM ${schema}.caller_counter
        WHERE project_id = $1 AND level = $2 AND ($2 > 0 OR bucket >= $4)
      ) AS kept
      FULL JOIN (
        SELECT bucket, caller, sum(queries)::bigint AS queries FROM (
          SELECT ${bucketOf('occurred_at', '$3::bigint')} AS bucket, caller, count(*) AS queries
          FROM ${schema}.query
          WHERE project_id = $1 AND $8::boolean AND ${isRecounted} AND caller NOT IN ('web', 'api') GROUP BY 1, 2
          UNION ALL
          SELECT ${bucketOf('start_at', '$3::bigint')}, caller, sum(queries)
          FROM ${schema}.imported_count
          WHERE project_id = $1 AND start_at >= $5 AND withdrawn_by IS NULL AND caller NOT IN ('web', 'api') GROUP BY 1, 2
          UNION ALL
          SELECT ${bucketOf('bucket', '$6::bigint')}, caller, queries FROM ${schema}.caller_counter
          WHERE project_id = $1 AND level = $2 - 1 AND bucket < $7
        ) AS part GROUP BY bucket, caller
      ) AS again USING (bucket, caller)
      WHERE coalesce(kept.queries, 0) <> coalesce(again.queries, 0)
      ORDER BY bucket, caller LIMIT ${verifyDifferencesMax}`;
