/**
 * The functions `record`, of version 31, and `import_counts`, of version 25. Released: never change them.
 *
 * Citus runs `record`, `record_one` and `import_counts` on the project's server, and plans each of their statements there. One that
 * changes tables in CTEs it runs by way of all servers, so that it fails while any of them is down. So each statement changes one
 * table. Several rows are selected together with the project's row, because Citus would write them to a file otherwise.
 *
 * `record` inserts the queries and adds the new ones to the counters. It returns the positions (from 1) of the ids that existed
 * already, or null if there is no such project. The given ids are distinct. Its ORDER BYs are the order of the locks. It also
 * turns `synchronous_commit` on, because a pooler, or Citus on its workers, may use another default.
 *
 * Deleting a project or moving its `rows_from` takes the project's advisory lock exclusively, and `record` shares it. So no
 * recording is in progress that saw the old state. A row lock would not do: writers that share a row and overlap never let
 * an exclusive one through, whereas advisory locks are granted in order. All functions read the project's row twice, because
 * the second time shows what was committed while the first one waited for the lock. A query from before `rows_from` raises
 * CS001, with that time as its detail.
 *
 * `record` chooses the level 2 (15 minutes); 1 (10 seconds) if those 15 minutes have many queries; and 0 if those 10 seconds
 * have more than counters of 1 ms could be needed. So a range reads few rows and few counters. Any level would be right,
 * because the row says which, so calls that run at the same time need not agree.
 *
 * `record` also takes the distinct receipts of its queries, and the place of each query's receipt among them, 0 for none. It
 * uses no receipt up to the project's fence. Two calls may give one receipt two numbers, which changes nothing. A call that
 * loses the race for a number waits for the other one to commit, which waits for nothing that this one holds, because receipts
 * come before queries and counters.
 *
 * `import_counts` inserts the counts and adds the new ones to the counters of all levels. It holds the project's lock, so it
 * cannot deadlock with recordings. The given counts are distinct and do not overlap. It returns null if there is no such
 * project, else the number of new counts, or those that contradict given ones (`index` is from 0) and then changes nothing. Of
 * one source and caller no spans overlap, so only the last one that starts before the end of a given span can overlap it.
 */

/** The widths of the bucket levels in milliseconds. */
export const WIDTHS = [1, 10_000, 900_000, 10_800_000, 86_400_000, 2_764_800_000];
const [, TEN_SECONDS = 0, QUARTER = 0] = WIDTHS;

/** From how many queries on 15 minutes or 10 seconds have narrower counters. */
export const busyQueries = { quarter: 1000, tenSeconds: 10_000 };

const WIDTH_ROWS = `(
        VALUES ${WIDTHS.map((ms, level) => `(${level}, ${ms})`).join(', ')}
      ) AS width (level, ms)`;

/** Division truncates, so a negative remainder is made positive first. */
export const bucketOf = (time: string, ms: number | string): string =>
  `(${time} - ((${time} % ${ms}) + ${ms}) % ${ms}) / ${ms}`;

/**
 * Zero. Citus 13.2 keeps another plan in memory each time that an `INSERT … VALUES` of a function runs, unless that calls a
 * volatile function.
 */
export const ZERO = '(random() * 0)::integer';

export const ADD_BY_TYPE = `ON CONFLICT (project_id, level, bucket) DO UPDATE SET
      web = kept.web + excluded.web, api = kept.api + excluded.api, other = kept.other + excluded.other`;

export const ADD_BY_CALLER = `ON CONFLICT (project_id, level, bucket, caller) DO UPDATE SET
      queries = kept.queries + excluded.queries`;

/**
 * A transaction that writes nothing waits for no standby server. But rows that exist already may be from a call whose commit
 * no standby has confirmed, because its connection broke. Writing a message makes the commit wait for them.
 */
export const CONFIRM = `IF current_setting('synchronous_standby_names') <> '' THEN
        PERFORM pg_logical_emit_message(true, 'caller_stats', '');
      END IF;`;

/** Adds `amount` of the rows of `added` (time, caller, level) to the counters. `amount` takes the condition of an aggregate. */
const count = (schema: string, added: string, amount: (condition: string) => string): string => `
    INSERT INTO ${schema}.caller_type_counter AS kept (project_id, level, bucket, web, api, other)
    SELECT project.id, sums.level, sums.bucket, sums.web, sums.api, sums.other
    FROM (
      SELECT width.level, ${bucketOf('added.time', 'width.ms')} AS bucket,
        ${amount("added.caller = 'web'")} AS web, ${amount("added.caller = 'api'")} AS api,
        ${amount("added.caller NOT IN ('web', 'api')")} AS other
      FROM ${added} JOIN ${WIDTH_ROWS} ON width.level >= added.level
      GROUP BY 1, 2
    ) AS sums
    CROSS JOIN ${schema}.project WHERE project.id = asked_project
    ORDER BY sums.level, sums.bucket
    ${ADD_BY_TYPE};
    INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
    SELECT project.id, sums.level, sums.bucket, sums.caller, sums.queries
    FROM (
      SELECT width.level, ${bucketOf('added.time', 'width.ms')} AS bucket, added.caller, ${amount('true')} AS queries
      FROM ${added} JOIN ${WIDTH_ROWS} ON width.level >= added.level
      WHERE added.caller NOT IN ('web', 'api')
      GROUP BY 1, 2, 3
    ) AS sums
    CROSS JOIN ${schema}.project WHERE project.id = asked_project
    ORDER BY sums.level, sums.bucket, sums.caller
    ${ADD_BY_CALLER};`;

/** Finds the levels of the queries. Those of the call count as well, so that the first call may be a large one. */
const chooseLevels = (schema: string): string => {
  const counters = (level: number, buckets: string) => `
        SELECT level, bucket, web + api + other FROM ${schema}.caller_type_counter
        WHERE project_id = asked_project AND level = ${level} AND bucket = ANY (${buckets})`;
  return `
    ten_seconds := ARRAY(SELECT DISTINCT ${bucketOf('time', TEN_SECONDS)} FROM unnest(times) AS sent (time));
    quarters := ARRAY(SELECT DISTINCT ${bucketOf('time', QUARTER)} FROM unnest(times) AS sent (time));
    SELECT
      coalesce(array_agg(bucket) FILTER (WHERE level = 1), '{}'), coalesce(array_agg(bucket) FILTER (WHERE level = 2), '{}')
    INTO ten_seconds, quarters
    FROM (
      SELECT level, bucket FROM (
        SELECT width.level, ${bucketOf('time', 'width.ms')} AS bucket, count(*) AS queries
        FROM unnest(times) AS sent (time) CROSS JOIN (VALUES (1, ${TEN_SECONDS}), (2, ${QUARTER})) AS width (level, ms)
        GROUP BY 1, 2
        UNION ALL${counters(1, 'ten_seconds')}
        UNION ALL${counters(2, 'quarters')}
      ) AS part
      GROUP BY level, bucket
      HAVING sum(queries) >= CASE level WHEN 1 THEN ${busyQueries.tenSeconds} ELSE ${busyQueries.quarter} END
    ) AS busy;
    levels := ARRAY(
      SELECT CASE
        WHEN ${bucketOf('time', TEN_SECONDS)} = ANY (ten_seconds) THEN 0
        WHEN ${bucketOf('time', QUARTER)} = ANY (quarters) THEN 1
        ELSE 2
      END
      FROM unnest(times) WITH ORDINALITY AS sent (time, place) ORDER BY place
    );`;
};

/** The number of a receipt; null if it has none. */
export const numberOf = (schema: string, day: string, sender: string, fence: string): string =>
  `(SELECT max(number) FROM ${schema}.receipt
        WHERE project_id = asked_project AND day = ${day} AND sender = ${sender} AND number > ${fence})`;

/** Gives a receipt that has no number yet one. */
export const numberReceipt = (schema: string, day: string, sender: string): string => `
      WHILE receipt_number IS NULL LOOP
        next_number := (SELECT coalesce(max(number), 0) + 1 FROM ${schema}.receipt WHERE project_id = asked_project);
        INSERT INTO ${schema}.receipt (project_id, number, day, sender)
        VALUES (asked_project, next_number + ${ZERO}, ${day}, ${sender})
        ON CONFLICT (project_id, number) DO NOTHING;
        IF FOUND THEN
          receipt_number := next_number;
        END IF;
      END LOOP;`;

/** Shares the project's lock, or returns null if there is no such project. */
export const shareLock = (schema: string): string => `
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('${schema}.' || id, 0))
    FROM ${schema}.project WHERE project.id = asked_project AND deleted_at IS NULL;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;`;

/** Refuses queries from before the rows of the project. */
export const refuseOld = (rowsFrom: string): string => `
        RAISE EXCEPTION USING ERRCODE = 'CS001', MESSAGE = 'a query is from before the rows of its project',
          DETAIL = ${rowsFrom};`;

export const SYNCHRONOUS = `
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;`;

export const record = (schema: string): string => `
  CREATE OR REPLACE FUNCTION ${schema}.record(
    asked_project text, ids bytea[], times bigint[], callers text[], days integer[], senders text[], receipt_of integer[]
  ) RETURNS integer[] LANGUAGE plpgsql AS $function$
  DECLARE
    found_project record;
    ten_seconds bigint[];
    quarters bigint[];
    levels smallint[];
    new_id bytea;
    new_ids bytea[] := '{}';
    duplicates integer[] := '{}';
    receipts integer[] := '{}';
    receipt_number integer;
    next_number integer;
  BEGIN${shareLock(schema)}
    SELECT rows_from, coalesce(receipt_fence, 0) AS receipt_fence
    INTO found_project FROM ${schema}.project WHERE project.id = asked_project AND deleted_at IS NULL;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    IF found_project.rows_from IS NOT NULL THEN
      IF found_project.rows_from > (SELECT min(time) FROM unnest(times) AS sent (time)) THEN${refuseOld('found_project.rows_from')}
      END IF;
    END IF;${SYNCHRONOUS}
    FOR receipt_at IN 1..cardinality(days) LOOP
      receipt_number := ${numberOf(schema, 'days[receipt_at]', 'senders[receipt_at]', 'found_project.receipt_fence')};${numberReceipt(schema, 'days[receipt_at]', 'senders[receipt_at]')}
      receipts := receipts || receipt_number;
    END LOOP;${chooseLevels(schema)}
    FOR new_id IN
      INSERT INTO ${schema}.query (project_id, id, occurred_at, caller, level, receipt)
      SELECT project.id, sent.id, sent.time, sent.caller, sent.level, receipts[sent.receipt_place]
      FROM unnest(ids, times, callers, levels, receipt_of) AS sent (id, time, caller, level, receipt_place)
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
        coalesce(array_agg(caller) FILTER (WHERE is_new), '{}'),
        coalesce(array_agg(level) FILTER (WHERE is_new), '{}')
      INTO duplicates, times, callers, levels
      FROM (
        SELECT place, time, caller, level, id IN (SELECT unnest(new_ids)) AS is_new
        FROM unnest(ids, times, callers, levels) WITH ORDINALITY AS sent (id, time, caller, level, place)
      ) AS sent;
    END IF;
    IF cardinality(times) = 0 THEN
      ${CONFIRM}
      RETURN duplicates;
    END IF;${count(schema, 'unnest(times, callers, levels) AS added (time, caller, level)', (condition) => `count(*) FILTER (WHERE ${condition})`)}
    RETURN duplicates;
  END
  $function$;
`;

/** The project's lock is exclusive, so the new counts are still new when they are inserted. */
export const importCounts = (schema: string): string => `
  CREATE FUNCTION ${schema}.import_counts(
    asked_project text, sources text[], callers text[], starts bigint[], ends bigint[], counts bigint[], days integer[]
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
      coalesce(array_agg(end_at), '{}'), coalesce(array_agg(queries), '{}'), coalesce(array_agg(day), '{}')
    INTO recorded, sources, callers, starts, ends, counts, days
    FROM unnest(sources, callers, starts, ends, counts, days) AS sent (source, caller, start_at, end_at, queries, day)
    WHERE NOT EXISTS (
      SELECT FROM ${schema}.imported_count
      WHERE project_id = asked_project AND imported_count.source = sent.source
        AND imported_count.caller = sent.caller AND imported_count.start_at = sent.start_at
    );
    IF recorded = 0 THEN
      ${CONFIRM}
      RETURN jsonb_build_object('recorded', 0);
    END IF;
    INSERT INTO ${schema}.imported_count (project_id, source, caller, start_at, end_at, queries, day)
    SELECT project.id, sent.source, sent.caller, sent.start_at, sent.end_at, sent.queries, sent.day
    FROM unnest(sources, callers, starts, ends, counts, days) AS sent (source, caller, start_at, end_at, queries, day)
    CROSS JOIN ${schema}.project WHERE project.id = asked_project;${count(
      schema,
      '(SELECT start_at, caller, queries, 0 FROM unnest(starts, callers, counts) AS sent (start_at, caller, queries) WHERE queries > 0) AS added (time, caller, queries, level)',
      (condition) => `coalesce(sum(added.queries) FILTER (WHERE ${condition}), 0)`,
    )}
    RETURN jsonb_build_object('recorded', recorded);
  END
  $function$;
`;
