/**
 * Organizations, projects, API keys, queries and their counters. Released: never change it.
 *
 * `record` inserts the queries and adds the new ones to the counters, in one statement. Its ORDER BYs are the order of the
 * locks. It returns the positions (from 1) of the ids that existed already, or null if there is no such project. It also
 * turns `synchronous_commit` on, because a pooler, or Citus on its workers, may use another default. The given ids are
 * distinct. Division truncates, so a negative remainder is made positive first.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.schema_version (
    version integer NOT NULL,
    single boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (single)
  );
`,
  `
  CREATE TABLE ${schema}.organization (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text NOT NULL,
    created_at bigint NOT NULL
  );
`,
  `
  INSERT INTO ${schema}.organization (id, name, created_at) VALUES ('default', 'Default', 0);
`,
  `
  CREATE TABLE ${schema}.api_key (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    project_id text COLLATE "C",
    type text NOT NULL CHECK (type IN ('admin', 'recording')),
    name text NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE,
    start text NOT NULL,
    "end" text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint,
    CHECK ((type = 'recording') = (project_id IS NOT NULL))
  );
`,
  `
  CREATE TABLE ${schema}.project (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL
  );
`,
  `
  CREATE TABLE ${schema}.query (
    occurred_at bigint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, id)
  );
`,
  `
  CREATE TABLE ${schema}.counter (
    bucket bigint NOT NULL,
    web bigint NOT NULL,
    api bigint NOT NULL,
    other bigint NOT NULL,
    level smallint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, level, bucket)
  ) WITH (fillfactor = 80);
`,
  `
  CREATE FUNCTION ${schema}.find_access(
    asked_hash text, asked_project text,
    OUT schema_version integer, OUT found_key ${schema}.api_key, OUT found_project ${schema}.project
  ) LANGUAGE plpgsql STABLE AS $function$
  BEGIN
    SELECT version INTO schema_version FROM ${schema}.schema_version;
    SELECT * INTO found_key FROM ${schema}.api_key WHERE hash = asked_hash;
    SELECT * INTO found_project FROM ${schema}.project
      WHERE id = asked_project AND organization_id = found_key.organization_id;
  END
  $function$;
`,
  `
  CREATE FUNCTION ${schema}.record(
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
    ), inserted AS (
      INSERT INTO ${schema}.query (project_id, id, occurred_at, caller)
      SELECT asked_project, id, occurred_at, caller FROM incoming ORDER BY id
      ON CONFLICT (project_id, id) DO NOTHING
      RETURNING id, occurred_at, caller
    ), counted AS (
      INSERT INTO ${schema}.counter AS kept (project_id, level, bucket, web, api, other)
      SELECT
        asked_project, width.level,
        (occurred_at - ((occurred_at % width.ms) + width.ms) % width.ms) / width.ms AS bucket,
        count(*) FILTER (WHERE caller = 'web'),
        count(*) FILTER (WHERE caller = 'api'),
        count(*) FILTER (WHERE caller NOT IN ('web', 'api'))
      FROM inserted CROSS JOIN (
        VALUES (0, 1), (1, 10000), (2, 900000), (3, 10800000), (4, 86400000), (5, 2764800000)
      ) AS width (level, ms)
      GROUP BY width.level, bucket
      ORDER BY width.level, bucket
      ON CONFLICT (project_id, level, bucket) DO UPDATE SET
        web = kept.web + excluded.web, api = kept.api + excluded.api, other = kept.other + excluded.other
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
