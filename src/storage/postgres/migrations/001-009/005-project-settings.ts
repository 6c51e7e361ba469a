/**
 * Project time zones, retention and deletion, indexes of the audit log. Released: never change it.
 *
 * Deleting a project or moving its `rows_from` takes the project's advisory lock exclusively, and `record` shares it. So no
 * recording is in progress that saw the old state. A row lock would not do: writers that share a row and overlap never let
 * an exclusive one through, whereas advisory locks are granted in order. `record` looks at the project in a statement of
 * its own, which sees what was committed while it waited for the lock. A query from before `rows_from` raises CS001, with
 * that time as its detail.
 */
export const sql = (schema: string): readonly string[] => [
  `
  ALTER TABLE ${schema}.project
    ADD COLUMN time_zone text,
    ADD COLUMN retention_days integer,
    ADD COLUMN rows_from bigint,
    ADD COLUMN swept_to bytea,
    ADD COLUMN deleted_at bigint;
`,
  `
  CREATE INDEX audit_of_actor ON ${schema}.audit (organization_id, actor, number);
`,
  `  CREATE INDEX audit_of_action ON ${schema}.audit (organization_id, action, number);
`,
  `  CREATE INDEX audit_of_target ON ${schema}.audit (organization_id, target_id, number);
`,
  `
  CREATE OR REPLACE FUNCTION ${schema}.find_access(
    asked_hash text, asked_project text,
    OUT schema_version integer, OUT found_key ${schema}.api_key, OUT found_project ${schema}.project
  ) LANGUAGE plpgsql STABLE AS $function$
  BEGIN
    SELECT version INTO schema_version FROM ${schema}.schema_version;
    SELECT * INTO found_key FROM ${schema}.api_key WHERE hash = asked_hash;
    SELECT * INTO found_project FROM ${schema}.project
      WHERE id = asked_project AND organization_id = found_key.organization_id AND deleted_at IS NULL;
  END
  $function$;
`,
  `
  CREATE OR REPLACE FUNCTION ${schema}.record(
    asked_project text, ids bytea[], times bigint[], callers text[]
  ) RETURNS integer[] LANGUAGE plpgsql AS $function$
  DECLARE
    duplicates integer[];
    horizon bigint;
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('${schema}.' || project.id, 0))
      FROM ${schema}.project WHERE project.id = asked_project;
    SELECT rows_from INTO horizon FROM ${schema}.project WHERE project.id = asked_project AND deleted_at IS NULL;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
    IF horizon IS NOT NULL AND horizon > (SELECT min(occurred_at) FROM unnest(times) AS sent (occurred_at)) THEN
      RAISE EXCEPTION USING ERRCODE = 'CS001', MESSAGE = 'a query is from before the rows of its project',
        DETAIL = horizon;
    END IF;
    IF current_setting('synchronous_commit') = 'off' THEN
      PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    WITH incoming AS MATERIALIZED (
      SELECT id, occurred_at, caller, place
      FROM unnest(ids, times, callers) WITH ORDINALITY AS sent (id, occurred_at, caller, place)
    ), width (level, ms) AS (
      VALUES (0, 1), (1, 10000), (2, 900000), (3, 10800000), (4, 86400000), (5, 2764800000)
    ), inserted AS (
      INSERT INTO ${schema}.query (project_id, id, occurred_at, caller)
      SELECT asked_project, id, occurred_at, caller FROM incoming ORDER BY id
      ON CONFLICT (project_id, id) DO NOTHING
      RETURNING id, occurred_at, caller
    ), counted_by_type AS (
      INSERT INTO ${schema}.type_counter AS kept (project_id, level, bucket, web, api, other)
      SELECT
        asked_project, width.level,
        (occurred_at - ((occurred_at % width.ms) + width.ms) % width.ms) / width.ms AS bucket,
        count(*) FILTER (WHERE caller = 'web'),
        count(*) FILTER (WHERE caller = 'api'),
        count(*) FILTER (WHERE caller NOT IN ('web', 'api'))
      FROM inserted CROSS JOIN width
      GROUP BY width.level, bucket
      ORDER BY width.level, bucket
      ON CONFLICT (project_id, level, bucket) DO UPDATE SET
        web = kept.web + excluded.web, api = kept.api + excluded.api, other = kept.other + excluded.other
    ), counted_by_caller AS (
      INSERT INTO ${schema}.caller_counter AS kept (project_id, level, bucket, caller, queries)
      SELECT
        asked_project, width.level,
        (occurred_at - ((occurred_at % width.ms) + width.ms) % width.ms) / width.ms AS bucket,
        caller, count(*)
      FROM inserted CROSS JOIN width
      WHERE caller NOT IN ('web', 'api')
      GROUP BY width.level, bucket, caller
      ORDER BY width.level, bucket, caller
      ON CONFLICT (project_id, level, bucket, caller) DO UPDATE SET queries = kept.queries + excluded.queries
    )
    SELECT CASE
      WHEN (SELECT count(*) FROM inserted) = cardinality(ids) THEN '{}'
      ELSE (SELECT array_agg(place::integer) FROM incoming WHERE id NOT IN (SELECT id FROM inserted))
    END INTO duplicates;
    RETURN duplicates;
  END
  $function$;
  `,
];
