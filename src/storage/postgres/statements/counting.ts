/** Counts from the counters, and from the rows that they do not include. */
import { ROW_LEVELS } from '../../../domain/counting/buckets.js';
import { COUNTS, isCounted, narrowerThan, projectExistsIn } from './shared.js';

/**
 * An array whose length the planner does not see. Otherwise it plans the statement again for each given array, because it
 * expects less work for a short one; planning takes longer than counting.
 */
const anyLength = (array: string) => `CASE WHEN random() >= 0 THEN ${array} END`;

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

export function countingStatements(schema: string) {
  const projectExists = projectExistsIn(schema);
  const { sumsOfTypes, countsOfOtherCallers } = partsIn(schema);
  return {
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
    countQueries: `SELECT count(*) AS queries FROM ${schema}.query WHERE project_id = $1 AND ${isCounted}`,
  };
}
