/** Records queries and imported counts, and reads them. */
import { pageCorrectionsMax } from '../../../domain/limits.js';
import { dayMs } from '../../../domain/time/duration.js';
import { ACCESS_STAMP, isCounted, projectExistsIn } from './shared.js';

export function recordingStatements(schema: string) {
  const projectExists = projectExistsIn(schema);
  return {
    record: `SELECT ${schema}.record($1, $2, $3, $4, $5, $6, $7) AS answer`,
    recordOne: `SELECT ${schema}.record_one($1, $2, $3, $4, $5, $6) AS answer`,
    // Only if `find_access` finds what the stamps $9 of the keys $8 stand for.
    recordProved: `SELECT proved AS "isProved",
        CASE WHEN proved THEN ${schema}.record($1, $2, $3, $4, $5, $6, $7) END AS answer
      FROM (
        SELECT bool_and(${ACCESS_STAMP} IS NOT DISTINCT FROM stamp) AS proved FROM unnest($8::text[], $9::text[]) AS sent (hash, stamp)
        CROSS JOIN LATERAL ${schema}.find_access(hash, $1)
      ) AS access`,
    // The same for one query and one key, without a function, whose statements would each have to start.
    recordOneProved: `SELECT proved AS "isProved",
        CASE WHEN proved THEN ${schema}.record_one($1, $2, $3, $4, $5, $6) END AS answer
      FROM (
        SELECT ${ACCESS_STAMP} IS NOT DISTINCT FROM $8 AS proved
        FROM ${schema}.schema_version AS versions (schema_version)
        LEFT JOIN ${schema}.api_key AS found_key ON found_key.hash = $7
        LEFT JOIN ${schema}.project AS found_project ON found_project.id = $1
          AND found_project.organization_id = found_key.organization_id AND found_project.deleted_at IS NULL
        OFFSET 0
      ) AS access`,
    readQueries: `WITH page AS MATERIALIZED (
        SELECT id, caller, occurred_at, receipt, level FROM ${schema}.query
        WHERE project_id = $1 AND id > $2 AND ${projectExists} AND id <= greatest(
          (SELECT id FROM ${schema}.query WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT 1),
          coalesce(
            (SELECT id FROM ${schema}.corrected_query WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT 1 OFFSET ${pageCorrectionsMax}),
            '\\x${'ff'.repeat(17)}'
          )
        ) ORDER BY id LIMIT $3
      )
      SELECT page.id, caller, occurred_at AS "occurredAt", day, sender, NOT ${isCounted} AS "isWithdrawn", changes, noted
      FROM page
      LEFT JOIN (SELECT number, day, sender FROM ${schema}.receipt WHERE project_id = $1) AS receipt
        ON receipt.number = page.receipt
      LEFT JOIN (
        SELECT id, jsonb_agg(jsonb_build_object('correction', correction, 'caller', caller) ORDER BY correction) AS changes
        FROM ${schema}.corrected_query
        WHERE project_id = $1 AND id > $2 AND id <= (SELECT id FROM page ORDER BY id DESC LIMIT 1) GROUP BY id
      ) AS corrected ON corrected.id = page.id
      LEFT JOIN (
        SELECT id, jsonb_agg(jsonb_build_object('day', day, 'caller', caller, 'isWithdrawn', is_withdrawn, 'isCorrected', is_corrected)) AS noted
        FROM ${schema}.late_change
        WHERE project_id = $1 AND id > $2 AND id <= (SELECT id FROM page ORDER BY id DESC LIMIT 1) GROUP BY id
      ) AS late ON late.id = page.id
      ORDER BY page.id`,
    // What the function would return, without its locks. Of a project that does not exist, no row.
    checkCounts: `SELECT count(*) FILTER (WHERE present.end_at > sent.start_at IS NOT TRUE) AS recorded,
        jsonb_agg(jsonb_build_object(
          'index', place - 1, 'start', present.start_at, 'end', present.end_at, 'count', present.queries
        ) ORDER BY place) FILTER (
          WHERE present.end_at > sent.start_at
            AND (present.start_at, present.end_at, present.queries) <> (sent.start_at, sent.end_at, sent.queries)
        ) AS conflicts
      FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[]) WITH ORDINALITY
        AS sent (source, caller, start_at, end_at, queries, place)
      LEFT JOIN LATERAL (
        SELECT start_at, end_at, queries FROM ${schema}.imported_count
        WHERE project_id = $1 AND imported_count.source = sent.source
          AND imported_count.caller = sent.caller AND imported_count.start_at < sent.end_at
        ORDER BY imported_count.start_at DESC LIMIT 1
      ) AS present ON true
      HAVING ${projectExists}`,
    importCounts: `SELECT ${schema}.import_counts($1, $2, $3, $4, $5, $6, $7) AS outcome`,
    // A page: $5 rows after the source $2, the caller $3 and the start $4, or fewer if they were withdrawn often.
    readImportedCounts: `SELECT source, caller, start_at AS start, end_at AS "end", queries AS count, day, withdrawn_by AS "withdrawnBy",
        (SELECT string_agg(correction::text, ',') FROM ${schema}.withdrawn_count WHERE project_id = $1
            AND withdrawn_count.source = counted.source AND withdrawn_count.caller = counted.caller
            AND withdrawn_count.start_at = counted.start_at) AS withdrawals
      FROM (
        SELECT * FROM ${schema}.imported_count
        WHERE project_id = $1 AND (source, caller, start_at) > ($2, $3, $4) AND ${projectExists}
        ORDER BY source, caller, start_at LIMIT $5
      ) AS counted
      WHERE ((source, caller, start_at) > (
          SELECT source, caller, start_at FROM ${schema}.withdrawn_count
          WHERE project_id = $1 AND (source, caller, start_at) > ($2, $3, $4)
          ORDER BY source, caller, start_at LIMIT 1 OFFSET ${pageCorrectionsMax}
        )) IS NOT TRUE
      ORDER BY source, caller, start_at`,
    noteImport: `INSERT INTO ${schema}.import_range AS known (project_id, day, sender, first_at, last_at)
      VALUES ($1, $2, $3, $4, $5) ON CONFLICT (project_id, day, sender) DO UPDATE
      SET first_at = least(known.first_at, excluded.first_at), last_at = greatest(known.last_at, excluded.last_at)`,
    // See `reachesBack`.
    listImports: `SELECT day, sender, first_at AS "first", last_at AS "last" FROM ${schema}.import_range
      WHERE project_id = $1 AND first_at < (day - 1) * ${dayMs}::bigint AND ${projectExists}
      ORDER BY day DESC, sender LIMIT $2`,
    findCutSpan: `SELECT min(start_at) AS start, max(end_at) AS "end", sum(queries)::bigint AS count
      FROM unnest($2::bigint[], $3::bigint[]) AS bucket("from", "to")
      CROSS JOIN LATERAL (
        SELECT start_at, end_at, queries FROM ${schema}.imported_count WHERE project_id = $1 AND start_at >= bucket."from"
          AND start_at < bucket."to" AND end_at > bucket."to" AND queries > 0 AND withdrawn_by IS NULL
      ) AS cut
      WHERE ${projectExists}`,
    sumImportedCounts: `SELECT coalesce(sum(queries), 0)::bigint AS queries
      FROM ${schema}.imported_count WHERE project_id = $1 AND withdrawn_by IS NULL`,
  };
}
