/**
 * Makes recording on Citus the work of one server. Released: never change it.
 *
 * Citus runs `record` and `import_counts` on the project's server, and plans each of their statements there. One that changes
 * tables in CTEs it runs by way of all servers, so that it fails while any of them is down. So each statement changes one
 * table. Several rows are selected together with the project's row, because Citus would write them to a file otherwise.
 *
 * `record` returns the positions (from 1) of the ids that existed already, or null if there is no such project. The given ids
 * are distinct. Its ORDER BYs are the order of the locks. It reads the project's row twice, because the second time shows
 * what was committed while the first one waited for the lock. About lock and CS001 see version 5, about `import_counts`
 * version 9.
 */

/** The widths of the bucket levels in milliseconds. */
const WIDTHS = [1, 10_000, 900_000, 10_800_000, 86_400_000, 2_764_800_000];

const WIDTH_ROWS = `(
        VALUES ${WIDTHS.map((ms, level) => `(${level}, ${ms})`).join(', ')}
      ) AS width (level, ms)`;

/** Division truncates, so a negative remainder is made positive first. */
const bucketOf = (time: string, ms: number | string): string =>
  `(${time} - ((${time} % ${ms}) + ${ms}) % ${ms}) / ${ms}`;

/**
 * Zero. Citus 13.2 keeps another plan in memory each time that an `INSERT … VALUES` of a function runs, unless that calls a
 * volatile function.
 */
const ZERO = '(random() * 0)::integer';

const ADD_BY_TYPE = `ON CONFLICT (project_id, level, bucket) DO UPDATE SET
      web = kept.web + excluded.web, api = kept.api + excluded.api, other = kept.other + excluded.other`;

const ADD_BY_CALLER = `ON CONFLICT (project_id, level, bucket, caller) DO UPDATE SET
      queries = kept.queries + excluded.queries`;

/**
 * A transaction that writes nothing waits for no standby server. But rows that exist already may be from a call whose commit
 * no standby has confirmed, because its connection broke. Writing a message makes the commit wait for them.
 */
const CONFIRM = `IF current_setting('synchronous_standby_names') <> '' THEN
        PERFORM pg_logical_emit_message(true, 'caller_stats', '');
      END IF;`;

/** Adds `amount` of the rows of `added` (time, caller) to the counters. `amount` takes the condition of an aggregate. */
const count = (schema: string, added: string, amount: (condition: string) => string): string => `
    INSERT INTO ${schema}.type_counter AS kept (project_id, level, bucket, web, api, other)
    SELECT project.id, sums.level, sums.bucket, sums.web, sums.api, sums.other
    FROM (
      SELECT width.level, ${bucketOf('added.time', 'width.ms')} AS bucket,
        ${amount("added.caller = 'web'")} AS web, ${amount("added.caller = 'api'")} AS api,
        ${amount("added.caller NOT IN ('web', 'api')")} AS other
      FROM ${added} CROSS JOIN ${WIDTH_ROWS}
      GROUP BY 1, 2
    ) AS sums
    CROSS JOIN ${schema}.project WHERE project.id = asked_project
    ORDER BY sums.level, sums.bucket
    ${ADD_BY_TYPE};
    INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
    SELECT project.id, sums.level, sums.bucket, sums.caller, sums.queries
    FROM (
      SELECT width.level, ${bucketOf('added.time', 'width.ms')} AS bucket, added.caller, ${amount('true')} AS queries
      FROM ${added} CROSS JOIN ${WIDTH_ROWS}
      WHERE added.caller NOT IN ('web', 'api')
      GROUP BY 1, 2, 3
    ) AS sums
    CROSS JOIN ${schema}.project WHERE project.id = asked_project
    ORDER BY sums.level, sums.bucket, sums.caller
    ${ADD_BY_CALLER};`;

/** The rows of all levels for one query, whose buckets are in `buckets`. */
const rowsOfOne = (values: string): string =>
  WIDTHS.map(
    (_, level) =>
      `(asked_project, ${level}, buckets[${level + 1}]${level === 0 ? ` + ${ZERO}` : ''}, ${values})`,
  ).join(',\n        ');

const countOne = (schema: string): string => `
      buckets := ARRAY[${WIDTHS.map((ms) => bucketOf('times[1]', ms)).join(', ')}];
      is_web := (callers[1] = 'web')::integer;
      is_api := (callers[1] = 'api')::integer;
      is_other := 1 - is_web - is_api;
      INSERT INTO ${schema}.type_counter AS kept (project_id, level, bucket, web, api, other)
      VALUES
        ${rowsOfOne('is_web, is_api, is_other')}
      ${ADD_BY_TYPE};
      IF is_other = 1 THEN
        INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
        VALUES
        ${rowsOfOne('callers[1], 1')}
        ${ADD_BY_CALLER};
      END IF;`;

const record = (schema: string): string => `
  CREATE OR REPLACE FUNCTION ${schema}.record(
    asked_project text, ids bytea[], times bigint[], callers text[]
  ) RETURNS integer[] LANGUAGE plpgsql AS $function$
  DECLARE
    found_project record;
    buckets bigint[];
    is_web integer;
    is_api integer;
    is_other integer;
    new_id bytea;
    new_ids bytea[] := '{}';
    duplicates integer[] := '{}';
  BEGIN
    FOR reading IN 1..2 LOOP
      SELECT rows_from, pg_advisory_xact_lock_shared(hashtextextended('${schema}.' || id, 0)) INTO found_project
      FROM ${schema}.project WHERE project.id = asked_project AND deleted_at IS NULL;
      IF NOT FOUND THEN
        RETURN NULL;
      END IF;
    END LOOP;
    IF found_project.rows_from IS NOT NULL THEN
      IF found_project.rows_from > (SELECT min(time) FROM unnest(times) AS sent (time)) THEN
        RAISE EXCEPTION USING ERRCODE = 'CS001', MESSAGE = 'a query is from before the rows of its project',
          DETAIL = found_project.rows_from;
      END IF;
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    IF cardinality(ids) = 1 THEN
      INSERT INTO ${schema}.query (project_id, id, occurred_at, caller)
      VALUES (asked_project, ids[1], times[1] + ${ZERO}, callers[1])
      ON CONFLICT (project_id, id) DO NOTHING;
      IF NOT FOUND THEN
        ${CONFIRM}
        RETURN '{1}';
      END IF;${countOne(schema)}
      RETURN '{}';
    END IF;
    FOR new_id IN
      INSERT INTO ${schema}.query (project_id, id, occurred_at, caller)
      SELECT project.id, sent.id, sent.time, sent.caller
      FROM unnest(ids, times, callers) AS sent (id, time, caller)
      CROSS JOIN ${schema}.project WHERE project.id = asked_project
      ORDER BY sent.id
      ON CONFLICT (project_id, id) DO NOTHING
      RETURNING query.id
    LOOP
      new_ids := new_ids || new_id;
    END LOOP;
    IF cardinality(new_ids) < cardinality(ids) THEN
      SELECT
        coalesce(array_agg(place::integer) FILTER (WHERE NOT is_new), '{}'),
        coalesce(array_agg(time) FILTER (WHERE is_new), '{}'),
        coalesce(array_agg(caller) FILTER (WHERE is_new), '{}')
      INTO duplicates, times, callers
      FROM (
        SELECT place, time, caller, id IN (SELECT unnest(new_ids)) AS is_new
        FROM unnest(ids, times, callers) WITH ORDINALITY AS sent (id, time, caller, place)
      ) AS sent;
    END IF;
    IF cardinality(times) = 0 THEN
      ${CONFIRM}
      RETURN duplicates;
    END IF;${count(schema, 'unnest(times, callers) AS added (time, caller)', (condition) => `count(*) FILTER (WHERE ${condition})`)}
    RETURN duplicates;
  END
  $function$;
`;

/** The project's lock is exclusive, so the new counts are still new when they are inserted. */
const importCounts = (schema: string): string => `
  CREATE OR REPLACE FUNCTION ${schema}.import_counts(
    asked_project text, sources text[], callers text[], starts bigint[], ends bigint[], counts bigint[], dry_run boolean
  ) RETURNS jsonb LANGUAGE plpgsql AS $function$
  DECLARE
    conflicts jsonb;
    recorded integer;
  BEGIN
    FOR reading IN 1..2 LOOP
      PERFORM pg_advisory_xact_lock(hashtextextended('${schema}.' || id, 0))
      FROM ${schema}.project WHERE project.id = asked_project AND deleted_at IS NULL;
      IF NOT FOUND THEN
        RETURN NULL;
      END IF;
    END LOOP;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    SELECT jsonb_agg(jsonb_build_object(
      'index', place - 1, 'start', present.start_at, 'end', present.end_at, 'count', present.queries
    ) ORDER BY place)
    INTO conflicts
    FROM unnest(sources, callers, starts, ends, counts) WITH ORDINALITY
      AS sent (source, caller, start_at, end_at, queries, place)
    CROSS JOIN LATERAL (
      SELECT start_at, end_at, queries FROM ${schema}.imported_count
      WHERE project_id = asked_project AND imported_count.source = sent.source
        AND imported_count.caller = sent.caller AND imported_count.start_at < sent.end_at
      ORDER BY imported_count.start_at DESC LIMIT 1
    ) AS present
    WHERE present.end_at > sent.start_at
      AND (present.start_at, present.end_at, present.queries) <> (sent.start_at, sent.end_at, sent.queries);
    IF conflicts IS NOT NULL THEN
      RETURN jsonb_build_object('conflicts', conflicts);
    END IF;
    SELECT
      count(*), coalesce(array_agg(source), '{}'), coalesce(array_agg(caller), '{}'), coalesce(array_agg(start_at), '{}'),
      coalesce(array_agg(end_at), '{}'), coalesce(array_agg(queries), '{}')
    INTO recorded, sources, callers, starts, ends, counts
    FROM unnest(sources, callers, starts, ends, counts) AS sent (source, caller, start_at, end_at, queries)
    WHERE NOT EXISTS (
      SELECT FROM ${schema}.imported_count
      WHERE project_id = asked_project AND imported_count.source = sent.source
        AND imported_count.caller = sent.caller AND imported_count.start_at = sent.start_at
    );
    IF dry_run THEN
      RETURN jsonb_build_object('recorded', recorded);
    END IF;
    IF recorded = 0 THEN
      ${CONFIRM}
      RETURN jsonb_build_object('recorded', 0);
    END IF;
    INSERT INTO ${schema}.imported_count (project_id, source, caller, start_at, end_at, queries)
    SELECT project.id, sent.source, sent.caller, sent.start_at, sent.end_at, sent.queries
    FROM unnest(sources, callers, starts, ends, counts) AS sent (source, caller, start_at, end_at, queries)
    CROSS JOIN ${schema}.project WHERE project.id = asked_project;${count(
      schema,
      '(SELECT start_at, caller, queries FROM unnest(starts, callers, counts) AS sent (start_at, caller, queries) WHERE queries > 0) AS added (time, caller, queries)',
      (condition) => `coalesce(sum(added.queries) FILTER (WHERE ${condition}), 0)`,
    )}
    RETURN jsonb_build_object('recorded', recorded);
  END
  $function$;
`;

export const sql = (schema: string): readonly string[] => [record(schema), importCounts(schema)];
