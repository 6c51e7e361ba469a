import { CallerStatsError } from '../../../domain/errors.js';
import type { ClusterServer, Inspected } from '../../ports/store-stats.js';
import { SqlDirectoryReads } from '../../sql/directory-reads.js';
import { SqlIngestionReads } from '../../sql/ingestion.js';
import { OLDEST_VERSION, requireReleased } from '../../sql/oldest-version.js';
import type { Session as SqlSession } from '../../sql/session.js';
import { findAdditions, projectsOfServers } from '../connection/cluster.js';
import { Database, type DatabaseOptions, type Session } from '../connection/database.js';
import { unavailable } from '../connection/errors.js';
import type { PostgresLocation } from '../connection/location.js';
import { dialectFor } from '../dialect.js';
import { addAgain, distribute, KEEP_TO_ONE_CONNECTION } from './distribute.js';
import { MIGRATIONS, type Migration, NEWEST_VERSION, newestOf } from './index.js';

/** All programs on a database share the numbers of advisory locks. This one spells "CSTS". */
const lockNamespace = 0x43535453;

/**
 * Migrates a schema in one transaction, so a process killed half-way leaves the old version. Nodes that start at the same
 * time take turns at an advisory lock, and the later ones find nothing to do. A schema that is distributed over a cluster also gets
 * again what `distribute` adds, in the same transaction. Throws `unavailable` for a newer version and
 * one that was never released, and `not_found` for a missing one unless `create` is set.
 */
export async function migrate(
  session: Session,
  { schema, name }: Pick<PostgresLocation, 'schema' | 'name'>,
  create: boolean,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  const newest = newestOf(migrations);
  const found = await versionOf(session, schema);
  requireKnown(found, name);
  if (found === newest && (await isComplete(session, schema))) return;
  if (found === 0 && !create) {
    throw new CallerStatsError(
      'not_found',
      `There is no caller-stats in the database ${name}; serve, migrate or project create makes it.`,
    );
  }
  await session.transaction(async () => {
    await session.run('SELECT pg_advisory_xact_lock($1, hashtext($2))', [lockNamespace, schema]);
    // Another node may have migrated it meanwhile.
    const version = await versionOf(session, schema);
    requireKnown(version, name);
    if (version === 0) await createSchema(session, schema);
    await session.run(KEEP_TO_ONE_CONNECTION);
    const done = version === 0 ? 0 : version - OLDEST_VERSION + 1;
    for (const statements of migrations.slice(done)) {
      for (const statement of statements(schema)) await session.run(statement);
    }
    await addAgain(session, schema);
    await session.run(
      `INSERT INTO ${schema}.schema_version (version) VALUES ($1) ON CONFLICT (single) DO UPDATE SET version = $1`,
      [newest],
    );
  });
}

/** Whether functions are as nodes need them. Those of clusters that an earlier version has distributed are not. */
export async function isComplete(session: Pick<SqlSession, 'all'>, schema: string): Promise<boolean> {
  const additions = await findAdditions(session, schema);
  return additions === undefined || additions.functions.length === 0;
}

/** The error for a schema whose version does not match this program. */
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
  if (version > 0) requireReleased(version, `The database ${name}`);
}

/** Only if it is missing: PostgreSQL requires the privilege to create one even if it exists. */
async function createSchema(session: Session, schema: string): Promise<void> {
  const row = await session.get('SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema]);
  if (row === undefined) await session.run(`CREATE SCHEMA ${schema}`);
}

/**
 * The schema version, 0 if there is none. Reads the catalog, because functions such as `to_regclass` use a cache that may
 * not know a table that another node has just created.
 */
async function versionOf(session: Session, schema: string): Promise<number> {
  const table = await session.get(
    'SELECT tablename FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = $2',
    [schema, 'schema_version'],
  );
  if (table === undefined) return 0;
  const row = await session.get<{ readonly version: number }>(`SELECT version FROM ${schema}.schema_version`);
  return row?.version ?? 0;
}

/** The schema version, 0 if there is none, the clock of the server, and the servers of a cluster. Changes nothing. */
export async function inspect(location: PostgresLocation, options: DatabaseOptions) {
  const database = new Database(location, options);
  try {
    return await database.session(async (session) => {
      const version = await versionOf(session, location.schema);
      requireKnown(version, location.name);
      const row = await session.get<{ readonly now: number }>(
        "SELECT (date_part('epoch', clock_timestamp()) * 1000)::float8 AS now",
      );
      const cluster = await inspectCluster(session, location.schema);
      return { version, newest: NEWEST_VERSION, clockMs: Number(row?.now), ...cluster };
    });
  } finally {
    await database.close();
  }
}

async function inspectCluster(session: Session, schema: string): Promise<Pick<Inspected, 'cluster'>> {
  const additions = await findAdditions(session, schema);
  if (additions === undefined) return {};
  if (additions.functions.length > 0) return { cluster: 'without functions' };
  if (!additions.hasCopy) return { cluster: 'without copies' };
  return { cluster: await session.all<ClusterServer>(projectsOfServers(schema)) };
}

/** Reads the tables of the newest schema. Changes nothing. */
export async function readSchema<T>(
  location: PostgresLocation,
  options: DatabaseOptions,
  read: (reads: {
    readonly directory: SqlDirectoryReads;
    readonly ingestion: SqlIngestionReads;
  }) => Promise<T>,
): Promise<T> {
  const database = new Database(location, options);
  const dialect = dialectFor(location.schema);
  try {
    return await database.session((session) =>
      read({
        directory: new SqlDirectoryReads(session, dialect),
        ingestion: new SqlIngestionReads(session, dialect),
      }),
    );
  } finally {
    await database.close();
  }
}

/** Migrates the schema and, on request, distributes it (see `distribute`). Has no deadline. */
export async function administer(
  location: PostgresLocation,
  options: DatabaseOptions & { readonly distribute: boolean },
) {
  const database = new Database(location, options);
  try {
    return await database.session(async (session) => {
      const before = await versionOf(session, location.schema);
      await migrate(session, location, true);
      const distributed = options.distribute ? await distribute(session, location) : [];
      return { before, version: NEWEST_VERSION, distributed };
    });
  } finally {
    await database.close();
  }
}
