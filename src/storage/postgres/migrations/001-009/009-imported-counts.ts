/**
 * Counts from other systems, for history without queries. Released: never change it.
 *
 * `import_counts` inserts the counts and adds the new ones to the counters. It holds the project's lock, which recordings
 * share, so it cannot deadlock with them. The given counts are distinct and do not overlap. It returns null if there is no
 * such project, else the number of new counts, or those that contradict given ones (`index` is from 0) and then changes
 * nothing. Of one source and caller no spans overlap, so only the last one that starts before the end of a given span can
 * overlap it.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.imported_count (
    start_at bigint NOT NULL,
    end_at bigint NOT NULL,
    queries bigint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, source, caller, start_at)
  );
`,
  `
  CREATE INDEX imported_count_by_start ON ${schema}.imported_count (project_id, start_at);
`,
  `
  CREATE FUNCTION ${schema}.import_counts(
    asked_project text, sources text[], callers text[], starts bigint[], ends bigint[], counts bigint[], dry_run boolean
  ) RETURNS jsonb LANGUAGE plpgsql AS $function$
  DECLARE
    conflicts jsonb;
    recorded integer;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('${schema}.' || project.id, 0))
      FROM ${schema}.project WHERE project.id = asked_project;
    PERFORM FROM ${schema}.project WHERE project.id = asked_project AND deleted_at IS NULL;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
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
    IF dry_run THEN
      SELECT count(*) INTO recorded
      FROM unnest(sources, callers, starts) AS sent (source, caller, start_at)
      WHERE NOT EXISTS (
        SELECT FROM ${schema}.imported_count
        WHERE project_id = asked_project AND imported_count.source = sent.source
          AND imported_count.caller = sent.caller AND imported_count.start_at = sent.start_at
      );
      RETURN jsonb_build_object('recorded', recorded);
    END IF;
    WITH width (level, ms) AS (
      VALUES (0, 1), (1, 10000), (2, 900000), (3, 10800000), (4, 86400000), (5, 2764800000)
    ), inserted AS (
      INSERT INTO ${schema}.imported_count (project_id, source, caller, start_at, end_at, queries)
      SELECT asked_project, source, caller, start_at, end_at, queries
      FROM unnest(sources, callers, starts, ends, counts) AS sent (source, caller, start_at, end_at, queries)
      ON CONFLICT (project_id, source, caller, start_at) DO NOTHING
      RETURNING caller, start_at, queries
    ), counted_by_type AS (
      INSERT INTO ${schema}.type_counter AS kept (project_id, level, bucket, web, api, other)
      SELECT
        asked_project, width.level,
        (start_at - ((start_at % width.ms) + width.ms) % width.ms) / width.ms AS bucket,
        coalesce(sum(queries) FILTER (WHERE caller = 'web'), 0),
        coalesce(sum(queries) FILTER (WHERE caller = 'api'), 0),
        coalesce(sum(queries) FILTER (WHERE caller NOT IN ('web', 'api')), 0)
      FROM inserted CROSS JOIN width
      WHERE queries > 0
      GROUP BY width.level, bucket
      ON CONFLICT (project_id, level, bucket) DO UPDATE SET
        web = kept.web + excluded.web, api = kept.api + excluded.api, other = kept.other + excluded.other
    ), counted_by_caller AS (
      INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
      SELECT
        asked_project, width.level,
        (start_at - ((start_at % width.ms) + width.ms) % width.ms) / width.ms AS bucket,
        caller, sum(queries)
      FROM inserted CROSS JOIN width
      WHERE queries > 0 AND caller NOT IN ('web', 'api')
      GROUP BY width.level, bucket, caller
      ON CONFLICT (project_id, level, bucket, caller) DO UPDATE SET queries = kept.queries + excluded.queries
    )
    SELECT count(*) INTO recorded FROM inserted;
    RETURN jsonb_build_object('recorded', recorded);
  END
  $function$;
`,
  `
  DO $distribute$
  BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.imported_count', 'project_id', colocate_with => '${schema}.query');
        PERFORM create_distributed_function(
          '${schema}.import_counts(text, text[], text[], bigint[], bigint[], bigint[], boolean)', 'asked_project',
          colocate_with => '${schema}.query'
        );
      END IF;
    END IF;
  END
  $distribute$;
  `,
];
