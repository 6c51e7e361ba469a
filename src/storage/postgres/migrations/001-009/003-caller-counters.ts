/** Counters per caller. Released: never change it. */

/** How many buckets of each level make one of the next. */
const TIMES = [10_000, 90, 12, 8, 32];

/**
 * Counts what was recorded before, while recordings wait and reads go on. A waiting call of the old `record` would count
 * by type alone. Renaming `counter` makes it fail instead, with nothing recorded.
 *
 * On Citus, `record` writes to this table where it runs, so the table is distributed while it is empty.
 */
export const sql = (schema: string): readonly string[] => [
  `
  LOCK TABLE ${schema}.query IN SHARE ROW EXCLUSIVE MODE;
`,
  `
  ALTER TABLE ${schema}.counter RENAME TO type_counter;
`,
  `
  CREATE TABLE ${schema}.caller_counter (
    bucket bigint NOT NULL,
    queries bigint NOT NULL,
    level smallint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, level, bucket, caller)
  ) WITH (fillfactor = 80);
`,
  `
  DO $distribute$
  BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.caller_counter', 'project_id', colocate_with => '${schema}.query');
      END IF;
    END IF;
  END
  $distribute$;
`,
  `
  INSERT INTO ${schema}.caller_counter (project_id, level, bucket, caller, queries)
    SELECT project_id, 0, occurred_at, caller, count(*) FROM ${schema}.query
    WHERE caller NOT IN ('web', 'api') GROUP BY project_id, occurred_at, caller;
  `,
  ...TIMES.map((times, level) => widen(schema, level, times)),
  `

  CREATE OR REPLACE FUNCTION ${schema}.record(
    asked_project text, ids bytea[], times bigint[], callers text[]
  ) RETURNS integer[] LANGUAGE plpgsql AS $function$
  DECLARE
    duplicates integer[];
  BEGIN
    PERFORM FROM ${schema}.project WHERE project.id = asked_project;
    IF NOT FOUND THEN
      RETURN NULL;
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

/** Computes each level from the one below it, which has fewer rows than there are queries. */
function widen(schema: string, level: number, times: number): string {
  return `
  INSERT INTO ${schema}.caller_counter (project_id, level, bucket, caller, queries)
    SELECT project_id, ${level + 1}, (bucket - ((bucket % ${times}) + ${times}) % ${times}) / ${times}, caller, sum(queries)
    FROM ${schema}.caller_counter WHERE level = ${level} GROUP BY 1, 3, 4;`;
}
