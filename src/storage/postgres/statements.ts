/**
 * The statements of the PostgreSQL store, except those of its migrations and of `src/storage/sql/`.
 * `test/program/postgres/shards.test.ts` checks all of them.
 */
import { BUCKET_WIDTHS_MS, bucketWidthMs, DAY_LEVEL } from '../../domain/counting/buckets.js';
import { verifyDifferencesMax } from '../ports/maintenance.js';
import { KEY, PROJECT } from '../sql/rows.js';
import { serversOf } from './connection/cluster.js';

/** The levels of rows that are not in all counters. Each has an index. */
const ROW_LEVELS = [1, 2] as const;

export const widestRowLevel = Math.max(...ROW_LEVELS);

/** The levels whose counters do not include the rows of a level, with their widths. */
const narrowerThan = (rowLevel: number) => {
  const levels = Array.from(
    { length: rowLevel },
    (_, level) => `(${level}, ${bucketWidthMs(level)}::bigint)`,
  );
  return `(VALUES ${levels.join(', ')}) AS narrower (level, ms)`;
};

/** The queries of $2 to $4 (times, callers, levels), once for each level whose counters do not include them. */
const SWEPT = `unnest($2::bigint[], $3::text[], $4::smallint[]) AS swept (occurred_at, caller, row_level)
        JOIN ${narrowerThan(ROW_LEVELS[1])} ON narrower.level < swept.row_level`;

/** Division truncates, so a negative remainder is made positive first. */
const bucketOf = (time: string, ms: string) => `(${time} - ((${time} % ${ms}) + ${ms}) % ${ms}) / ${ms}`;

/**
 * An array whose length the planner does not see. Otherwise it plans the statement again for each given array, because it
 * expects less work for a short one; planning takes longer than counting.
 */
const anyLength = (array: string) => `CASE WHEN random() >= 0 THEN ${array} END`;

const COUNT_WEB = "count(*) FILTER (WHERE caller = 'web')";
const COUNT_API = "count(*) FILTER (WHERE caller = 'api')";
/** The numbers of rows by caller type. */
const COUNTS = { web: COUNT_WEB, api: COUNT_API, other: `count(*) - ${COUNT_WEB} - ${COUNT_API}` };

/** Subqueries for the table `segment`, with a row of counts for each segment, or several. */
function partsIn(schema: string) {
  // One look-up for each segment, so that the planner cannot choose to read other counters as well. To segments of narrow
  // levels belong queries that their counters do not include.
  const inSegments = (ofCounters: string, ofRows: (from: string) => string): string => {
    const partsOfRows = ROW_LEVELS.map(
      (level) => `
        SELECT part.*, segment.* FROM segment JOIN ${narrowerThan(level)} USING (level)
        CROSS JOIN LATERAL (${ofRows(`${schema}.query WHERE project_id = $1 AND query.level = ${level}
          AND occurred_at >= segment.first * narrower.ms AND occurred_at < segment."end" * narrower.ms`)}) AS part`,
    );
    return `(
        SELECT part.*, segment.* FROM segment CROSS JOIN LATERAL (${ofCounters}) AS part
        UNION ALL${partsOfRows.join(' UNION ALL')}
      ) AS part`;
  };
  const countersOf = (table: string): string => `${schema}.${table}
          WHERE project_id = $1 AND ${table}.level = segment.level AND bucket >= segment.first AND bucket < segment."end"`;
  return {
    sumsOfTypes: (...types: (keyof typeof COUNTS)[]) =>
      inSegments(
        `SELECT ${types.map((type) => `sum(${type}) AS ${type}`).join(', ')} FROM ${countersOf('caller_type_counter')}`,
        (from) => `SELECT ${types.map((type) => `${COUNTS[type]} AS ${type}`).join(', ')} FROM ${from}`,
      ),
    countsOfOtherCallers: (condition = '') =>
      inSegments(
        `SELECT caller, sum(queries) AS queries FROM ${countersOf('caller_counter')} ${condition} GROUP BY caller`,
        (from) =>
          `SELECT caller, count(*) AS queries FROM ${from} AND caller NOT IN ('web', 'api') ${condition} GROUP BY caller`,
      ),
  };
}

/** The texts of all statements, for tables in `schema`. */
export function statementsIn(schema: string) {
  const projectExists = `EXISTS (SELECT FROM ${schema}.project WHERE project.id = $1 AND deleted_at IS NULL)`;
  const { sumsOfTypes, countsOfOtherCallers } = partsIn(schema);
  const retentionOf = (condition: string) =>
    `SELECT id, retention_days AS "retentionDays", rows_from AS "rowsFrom", swept_id AS "sweptTo"
      FROM ${schema}.project WHERE ${condition}`;
  const removeRows = (table: string, columns: string) => `WITH removed AS (
        DELETE FROM ${schema}.${table} WHERE project_id = $1 AND (${columns}) IN (
          SELECT ${columns} FROM ${schema}.${table} WHERE project_id = $1 ORDER BY ${columns} LIMIT $2)
        RETURNING 1
      ) SELECT count(*) AS removed FROM removed`;
  // Whether a row is recounted for the counters of the level $2. Where these are compared with narrower ones instead, whether
  // those do not include it.
  const isCounted =
    '(CASE WHEN occurred_at >= $5 THEN coalesce(level, 0) <= $2 ELSE level = $2 AND $2 > 0 END)';
  return {
    databaseSize: 'SELECT pg_database_size(current_database()) AS bytes',
    findServers: serversOf(schema),
    version: `SELECT version FROM ${schema}.schema_version`,
    // Waits for recordings in progress, and blocks others until the transaction ends; see the function `record`.
    stopRecording: `SELECT pg_advisory_xact_lock(hashtextextended('${schema}.' || project.id, 0))
      FROM ${schema}.project WHERE id = $1`,
    shareRecording: `SELECT pg_advisory_xact_lock_shared(hashtextextended('${schema}.' || project.id, 0))
      FROM ${schema}.project WHERE id = $1`,
    markDeleted: `UPDATE ${schema}.project SET deleted_at = $2 WHERE id = $1`,
    findDeleted: `SELECT id FROM ${schema}.project WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id LIMIT 1`,
    lockDeleted: `SELECT id FROM ${schema}.project WHERE id = $1 AND deleted_at IS NOT NULL FOR UPDATE`,
    // Applies to the rest of the transaction. With missing or old statistics, the planner would read and sort all rows of
    // a project to find the first few.
    keepToIndex: `SELECT set_config(name, 'off', true)
      FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'enable_hashjoin']) AS name`,
    removeQueries: `WITH removed AS (
        DELETE FROM ${schema}.query WHERE project_id = $1 AND id = ANY (ARRAY(
          SELECT id FROM ${schema}.query WHERE project_id = $1 ORDER BY id LIMIT $2)) RETURNING 1
      ) SELECT count(*) AS removed FROM removed`,
    removeTypeCounters: removeRows('caller_type_counter', 'level, bucket'),
    removeCallerCounters: removeRows('caller_counter', 'level, bucket, caller'),
    removeQueryKeys: removeRows('question_key', 'name'),
    removeIngestionSources: removeRows('ingestion_source', 'kind, name'),
    removeIngestionCounts: removeRows('ingestion_count', 'bucket, kind, name, operation'),
    removeImportedCounts: removeRows('imported_count', 'source, caller, start_at'),
    listRetentions: retentionOf(
      'deleted_at IS NULL AND (retention_days IS NOT NULL OR swept_id IS NOT NULL) ORDER BY id',
    ),
    lockRetention: retentionOf('id = $1 AND deleted_at IS NULL FOR UPDATE'),
    // Whether there is a counter of the days from $2 to before $3.
    findDays: `SELECT bucket FROM ${schema}.caller_type_counter
      WHERE project_id = $1 AND level = ${DAY_LEVEL} AND bucket >= $2 AND bucket < $3 LIMIT 1`,
    moveRowsFrom: `UPDATE ${schema}.project SET rows_from = $2, swept_id = $3 WHERE id = $1`,
    // The $3 rows after the id $2.
    readSwept: `SELECT id, occurred_at AS "occurredAt" FROM ${schema}.query
      WHERE project_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
    removeSwept: `DELETE FROM ${schema}.query WHERE project_id = $1 AND id = ANY ($2::bytea[])
      RETURNING occurred_at AS "occurredAt", caller, coalesce(level, 0) AS level`,
    // Locks counters in the order in which the function \`import_counts\` does.
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
    removeProject: `DELETE FROM ${schema}.project WHERE id = $1 AND deleted_at IS NOT NULL`,
    findAccess: `SELECT schema_version AS "schemaVersion", ${KEY.select('(found_key)')},
        ${PROJECT.select('(found_project)', 'found')}
      FROM ${schema}.find_access($1, $2)`,
    record: `SELECT ${schema}.record($1, $2, $3, $4) AS duplicates`,
    count: `WITH segment (level, first, "end") AS (
        SELECT * FROM unnest(${anyLength('$2::smallint[]')}, $3::bigint[], $4::bigint[]) WHERE ${projectExists}
      )
      SELECT coalesce(sum(web), 0)::bigint AS web, coalesce(sum(api), 0)::bigint AS api,
        coalesce(sum(other), 0)::bigint AS other
      FROM ${sumsOfTypes('web', 'api', 'other')}`,
    countSeries: `WITH segment (sum, level, first, "end") AS (
        SELECT * FROM unnest(${anyLength('$2::integer[]')}, $3::smallint[], $4::bigint[], $5::bigint[]) WHERE ${projectExists}
      )
      SELECT part.sum, sum(web)::bigint AS web, sum(api)::bigint AS api, sum(other)::bigint AS other
      FROM ${sumsOfTypes('web', 'api', 'other')} WHERE web IS NOT NULL GROUP BY part.sum`,
    // The callers $6, and if $7, the types; those have no caller.
    countSeriesByCaller: `WITH segment (sum, level, first, "end") AS (
        SELECT * FROM unnest(${anyLength('$2::integer[]')}, $3::smallint[], $4::bigint[], $5::bigint[]) WHERE ${projectExists}
      )
      SELECT part.sum, NULL AS caller, sum(web)::bigint AS web, sum(api)::bigint AS api, sum(other)::bigint AS other
      FROM ${sumsOfTypes('web', 'api', 'other')} WHERE web IS NOT NULL AND $7 GROUP BY part.sum
      UNION ALL
      SELECT part.sum, part.caller, 0, 0, sum(part.queries)::bigint
      FROM ${countsOfOtherCallers('AND caller = ANY ($6::text[])')}
      GROUP BY part.sum, part.caller`,
    // The callers web and api have no rows in `caller_counter`: their counters are those of their types.
    countCallers: `WITH segment (sum, level, first, "end") AS (
        SELECT * FROM unnest(${anyLength('$2::integer[]')}, $3::smallint[], $4::bigint[], $5::bigint[]) WHERE ${projectExists}
      )
      SELECT part.sum, by_type.caller, sum(by_type.queries)::bigint AS queries
      FROM ${sumsOfTypes('web', 'api')}
      CROSS JOIN LATERAL (VALUES ('web', part.web), ('api', part.api)) AS by_type (caller, queries)
      GROUP BY part.sum, by_type.caller
      UNION ALL
      SELECT part.sum, part.caller, sum(part.queries)::bigint AS queries
      FROM ${countsOfOtherCallers()}
      GROUP BY part.sum, part.caller`,
    // The narrowest buckets are the times themselves.
    findExtent: `SELECT ${[
      ['min', 'least', 'first'],
      ['max', 'greatest', 'last'],
    ]
      .map(
        ([end, outermost, name]) => `${outermost}(
          (SELECT ${end}(bucket) FROM ${schema}.caller_type_counter WHERE project_id = $1 AND level = 0),
          ${ROW_LEVELS.map((level) => `(SELECT ${end}(occurred_at) FROM ${schema}.query WHERE project_id = $1 AND level = ${level})`).join(', ')}
        ) AS ${name}`,
      )
      .join(', ')}
      WHERE ${projectExists}`,
    readQueries: `SELECT id, caller, occurred_at AS "occurredAt" FROM ${schema}.query
      WHERE project_id = $1 AND id > $2 AND ${projectExists} ORDER BY id LIMIT $3`,
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
    importCounts: `SELECT ${schema}.import_counts($1, $2, $3, $4, $5, $6) AS outcome`,
    readImportedCounts: `SELECT source, caller, start_at AS start, end_at AS "end", queries AS count
      FROM ${schema}.imported_count WHERE project_id = $1 AND (source, caller, start_at) > ($2, $3, $4) AND ${projectExists}
      ORDER BY source, caller, start_at LIMIT $5`,
    // The spans that cut $2. $3 is before the start of the longest of them.
    findCutSpan: `SELECT min(start_at) AS start, max(end_at) AS "end", sum(queries)::bigint AS count
      FROM ${schema}.imported_count
      WHERE project_id = $1 AND start_at > $3 AND start_at < $2 AND end_at > $2 AND queries > 0 AND ${projectExists}`,
    sumImportedCounts: `SELECT coalesce(sum(queries), 0)::bigint AS queries
      FROM ${schema}.imported_count WHERE project_id = $1`,
    countQueries: `SELECT count(*) AS queries FROM ${schema}.query WHERE project_id = $1`,
    listProjectIds: `SELECT id, rows_from AS "rowsFrom" FROM ${schema}.project WHERE deleted_at IS NULL ORDER BY id`,
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
          FROM ${schema}.query WHERE project_id = $1 AND $8::boolean AND ${isCounted} GROUP BY 1
          UNION ALL
          SELECT ${bucketOf('start_at', '$3::bigint')},
            sum(queries) FILTER (WHERE caller = 'web'), sum(queries) FILTER (WHERE caller = 'api'),
            sum(queries) FILTER (WHERE caller NOT IN ('web', 'api'))
          FROM ${schema}.imported_count WHERE project_id = $1 AND start_at >= $5 GROUP BY 1
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
    differencesOfCallers: `SELECT bucket, caller, 0 AS web, 0 AS api, coalesce(kept.queries, 0) AS other,
        0 AS "webAgain", 0 AS "apiAgain", coalesce(again.queries, 0) AS "otherAgain", count(*) OVER () AS total
      FROM (
        SELECT bucket, caller, queries FROM ${schema}.caller_counter
        WHERE project_id = $1 AND level = $2 AND ($2 > 0 OR bucket >= $4)
      ) AS kept
      FULL JOIN (
        SELECT bucket, caller, sum(queries)::bigint AS queries FROM (
          SELECT ${bucketOf('occurred_at', '$3::bigint')} AS bucket, caller, count(*) AS queries
          FROM ${schema}.query
          WHERE project_id = $1 AND $8::boolean AND ${isCounted} AND caller NOT IN ('web', 'api') GROUP BY 1, 2
          UNION ALL
          SELECT ${bucketOf('start_at', '$3::bigint')}, caller, sum(queries)
          FROM ${schema}.imported_count
          WHERE project_id = $1 AND start_at >= $5 AND caller NOT IN ('web', 'api') GROUP BY 1, 2
          UNION ALL
          SELECT ${bucketOf('bucket', '$6::bigint')}, caller, queries FROM ${schema}.caller_counter
          WHERE project_id = $1 AND level = $2 - 1 AND bucket < $7
        ) AS part GROUP BY bucket, caller
      ) AS again USING (bucket, caller)
      WHERE coalesce(kept.queries, 0) <> coalesce(again.queries, 0)
      ORDER BY bucket, caller LIMIT ${verifyDifferencesMax}`,
  } as const;
}

export type Statements = ReturnType<typeof statementsIn>;
export type StatementName = keyof Statements;
