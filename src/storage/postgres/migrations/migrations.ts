/** The schema of the PostgreSQL store and its history. */

import { CallerStatsError } from '../../../domain/errors.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../domain/projects/project.js';
import type { Session } from '../database.js';
import { unavailable } from '../errors.js';
import type { PostgresLocation } from '../location.js';
import { addCallerCounters } from './caller-counters.js';
import { addProjectLife } from './project-life.js';
import { USER_TABLES } from './user-tables.js';

/**
 * The schema's history: entry n brings a schema from version n to n + 1. Released entries never change.
 *
 * What makes them fit for Citus, which spreads `project`, `query` and the counters by project over many servers:
 * - Every unique key of those has the project in it, and they refer to nothing that is kept elsewhere.
 * - `record` is one function of one project, which Citus hands whole to the server that has the project.
 * - One collation (byte order) for all that is sorted: writers that lock rows in one order cannot deadlock.
 *
 * `record` inserts the queries and adds those that were new to the counters, in one statement. Its ORDER BYs are
 * the order of the locks. It gives the places (from 1) of the ids that were there already, and null where there is no
 * such project. It is where the promise is kept that what was acknowledged is on disk: whatever connects, a pooler or
 * Citus to its workers, and whatever their default is. The ids given are distinct. Division truncates, so a negative
 * remainder is made positive first.
 *
 * `query.id` holds the bytes of `query-id.ts`. `counter`, later `type_counter`, has a row for each project, bucket level
 * and bucket (see `domain/counting/buckets.ts`) in which anything happened, `caller_counter` one for each caller of type other as
 * well; their pages keep room for the updates of busy buckets.
 */
export const MIGRATIONS: readonly ((schema: string) => string)[] = [
  (schema) => `
  CREATE TABLE ${schema}.schema_version (
    version integer NOT NULL,
    single boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (single)
  );

  CREATE TABLE ${schema}.organization (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text NOT NULL,
    created_at bigint NOT NULL
  );

  INSERT INTO ${schema}.organization (id, name, created_at) VALUES ('${DEFAULT_ORGANIZATION_ID}', 'Default', 0);

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

  CREATE TABLE ${schema}.project (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL
  );

  CREATE TABLE ${schema}.query (
    occurred_at bigint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, id)
  );

  CREATE TABLE ${schema}.counter (
    bucket bigint NOT NULL,
    web bigint NOT NULL,
    api bigint NOT NULL,
    other bigint NOT NULL,
    level smallint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, level, bucket)
  ) WITH (fillfactor = 80);

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
  (schema) => `
  ALTER TABLE ${schema}.api_key
    ADD COLUMN disabled_at bigint,
    ADD COLUMN scopes text NOT NULL DEFAULT 'read,write',
    ADD COLUMN allow text NOT NULL DEFAULT '',
    ADD COLUMN successor_id text COLLATE "C";
  UPDATE ${schema}.api_key SET scopes = 'write' WHERE type = 'recording';

  CREATE TABLE ${schema}.member (
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    email text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at bigint NOT NULL,
    PRIMARY KEY (organization_id, email)
  );

  CREATE TABLE ${schema}.audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    address text,
    action text NOT NULL,
    target_id text NOT NULL,
    detail text NOT NULL
  );

  CREATE INDEX audit_of_organization ON ${schema}.audit (organization_id, number);

  CREATE FUNCTION ${schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
  BEGIN
    RAISE EXCEPTION 'the audit log is never changed';
  END
  $function$;

  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON ${schema}.audit
    FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse_change();
  `,
  addCallerCounters,
  USER_TABLES,
  addProjectLife,
];

export const NEWEST_VERSION = MIGRATIONS.length;

/** Advisory locks are numbers that all programs on a database share: this one spells "CSTS". */
const lockNamespace = 0x43535453;

/**
 * Brings a schema to the newest version, all of it in one transaction: a kill half-way leaves the old version. Nodes
 * that start at the same moment take turns at an advisory lock, and the later ones find nothing left to do. Refuses,
 * untouched, a newer version (`unavailable`), and a missing one where `create` is false (`not_found`).
 */
export async function migrate(
  session: Session,
  { schema, name }: Pick<PostgresLocation, 'schema' | 'name'>,
  create: boolean,
): Promise<void> {
  const found = await versionOf(session, schema);
  requireKnown(found, name);
  if (found === NEWEST_VERSION) return;
  if (found === 0 && !create) throw noStore(name);
  await session.transaction(async () => {
    await session.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [lockNamespace, schema]);
    // Again, for another node may have been first.
    const version = await versionOf(session, schema);
    requireKnown(version, name);
    if (version === 0) await createSchema(session, schema);
    for (const statements of MIGRATIONS.slice(version)) await session.query(statements(schema));
    await session.query(
      `INSERT INTO ${schema}.schema_version (version) VALUES ($1) ON CONFLICT (single) DO UPDATE SET version = $1`,
      [NEWEST_VERSION],
    );
  });
}

/** What to say where the schema has another version than this program works with. */
export function otherVersion(found: number | null, name: string): CallerStatsError {
  if (found !== null && found > NEWEST_VERSION) {
    return unavailable(
      `The database ${name} has schema version ${found}, made by a newer caller-stats; this one works with version ` +
        `${NEWEST_VERSION}. Upgrade this node, or restore a backup from before the upgrade.`,
    );
  }
  return unavailable(
    `The database ${name} has schema version ${found ?? 0}, and this caller-stats works with version ${NEWEST_VERSION}.`,
  );
}

function requireKnown(version: number, name: string): void {
  if (version > NEWEST_VERSION) throw otherVersion(version, name);
}

function noStore(name: string): CallerStatsError {
  return new CallerStatsError(
    'not_found',
    `There is no caller-stats in the database ${name}; serve, migrate or project create makes it.`,
  );
}

/** Only where it is missing: PostgreSQL asks for the privilege to create one even when it is there. */
async function createSchema(session: Session, schema: string): Promise<void> {
  const [row] = await session.query('SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]);
  if (row === undefined) await session.query(`CREATE SCHEMA ${schema}`);
}

/**
 * The schema's version; 0 where there is none. Asks the catalog's tables: functions such as `to_regclass` answer
 * from a cache that may not know what another node has just made.
 */
async function versionOf(session: Session, schema: string): Promise<number> {
  const [table] = await session.query(
    'SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = $2',
    [schema, 'schema_version'],
  );
  if (table === undefined) return 0;
  const [row] = await session.query(`SELECT version FROM ${schema}.schema_version`);
  return Number(row?.['version'] ?? 0);
}
