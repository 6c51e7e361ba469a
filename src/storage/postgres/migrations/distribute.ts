/** Distributes the tables over a Citus cluster (docs.citusdata.com, "Citus Utility Functions"). */
import { CallerStatsError } from '../../../domain/errors.js';
import { findAdditions, findFunctions } from '../connection/cluster.js';
import type { Session } from '../connection/database.js';
import type { PostgresLocation } from '../connection/location.js';

/**
 * The tables that grow, with their distribution columns. All rows of a project are on one server, including its row in
 * `project`. The other tables stay on the coordinator.
 */
export const SHARDED_TABLES = {
  project: 'id',
  query: 'project_id',
  caller_type_counter: 'project_id',
  caller_counter: 'project_id',
  question_key: 'project_id',
  found_query: 'project_id',
  late_change: 'project_id',
  ingestion_source: 'project_id',
  ingestion_count: 'project_id',
  imported_count: 'project_id',
  receipt: 'project_id',
  import_range: 'project_id',
  correction: 'project_id',
  corrected_query: 'project_id',
  withdrawn_count: 'project_id',
} as const;

/**
 * By default, Citus changes the shards of a table over several connections to each worker, and later statements of the
 * transaction could not see all of it. PostgreSQL ignores the setting.
 */
export const KEEP_TO_ONE_CONNECTION = "SET LOCAL citus.multi_shard_modify_mode = 'sequential'";

/**
 * A table on the coordinator that every change of a project writes to. Because Citus manages it, such a change is committed
 * in two phases: on both servers or on none.
 */
const MANAGED_TABLE = 'audit';

/** The functions that write into them, in the schema. The first parameter of each is the project. */
const RECORD = 'record(text, bytea[], bigint[], text[], integer[], text[], integer[])';
const RECORD_ONE = 'record_one(text, bytea, bigint, text, integer, text)';
const IMPORT_COUNTS = 'import_counts(text, text[], text[], bigint[], bigint[], bigint[], integer[])';

const FIND_EXTENSION = `SELECT installed_version AS version FROM pg_catalog.pg_available_extensions WHERE name = 'citus'`;

/**
 * Distributes the tables and the functions, and returns the names of those that this run distributed. Skips those
 * that are distributed already, so a run that was stopped can be repeated. Throws `invalid` without Citus.
 *
 * Each step is a transaction of its own, because Citus moves rows over several connections. Recording waits meanwhile.
 */
export async function distribute(session: Session, { schema, name }: PostgresLocation): Promise<string[]> {
  await requireCitus(session, name);
  await adaptFunctions(session, schema);
  const done: string[] = [];
  for (const [table, column] of Object.entries(SHARDED_TABLES)) {
    const relation = `${schema}.${table}`;
    if (await isDistributed(session, relation)) continue;
    const beside = table === 'project' ? 'none' : `${schema}.project`;
    await session.run('SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)', [
      relation,
      column,
      beside,
    ]);
    // The rows have been copied to their servers. The coordinator would keep its invisible copies forever.
    await session.run('SELECT truncate_local_data_after_distributing_table($1::regclass)', [relation]);
    done.push(relation);
  }
  done.push(
    ...(await session.transaction(async () => {
      await session.run(KEEP_TO_ONE_CONNECTION);
      return copyProjects(session, schema);
    })),
  );
  done.push(...(await manage(session, `${schema}.${MANAGED_TABLE}`)));
  const functions = [RECORD, RECORD_ONE, IMPORT_COUNTS].map((one) => `${schema}.${one}`);
  for (const one of functions) {
    await session.run('SELECT create_distributed_function($1::regprocedure, $2, colocate_with => $3)', [
      one,
      'asked_project',
      `${schema}.query`,
    ]);
  }
  return done.length === 0 ? [] : [...done, ...functions];
}

/**
 * Adds to a distributed schema again what `distribute` adds, in the transaction of a migration, which replaces functions and changes
 * tables without it. Does nothing in other schemas. Does not add missing copies, because nodes of an earlier version do not keep them.
 */
export async function addAgain(session: Session, schema: string): Promise<void> {
  const additions = await findAdditions(session, schema);
  if (additions === undefined) return;
  await adaptFunctions(session, schema);
  if (additions.hasCopy) await copyProjects(session, schema);
}

async function adaptFunctions(session: Session, schema: string): Promise<void> {
  for (const text of await findFunctions(session, schema)) await session.run(text);
}

/**
 * Makes the table `project_copy` on the coordinator, and `find_access` read it (see `project-copy.ts`), in a transaction. Makes it
 * again if it is there, so that it has what a backup, a migration or a node of an earlier version may have left out. Returns its
 * name if it is new.
 */
async function copyProjects(session: Session, schema: string): Promise<string[]> {
  const copy = `${schema}.project_copy`;
  // Waits for changes in progress. The next ones wait, and then find the table.
  await session.run(`LOCK TABLE ${schema}.project IN SHARE ROW EXCLUSIVE MODE`);
  const before = await session.get('SELECT FROM to_regclass($1) AS found WHERE found IS NOT NULL', [copy]);
  await session.run(`DROP TABLE IF EXISTS ${copy}`);
  await session.run(`CREATE TABLE ${copy} (LIKE ${schema}.project INCLUDING INDEXES)`);
  await session.run(`INSERT INTO ${copy} SELECT * FROM ${schema}.project WHERE deleted_at IS NULL`);
  const grants = await session.all<{ readonly text: string }>(
    `SELECT format('GRANT %s ON ${copy} TO %s', privilege_type, CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END) AS text
     FROM pg_class CROSS JOIN aclexplode(relacl) WHERE oid = $1::regclass AND grantee <> relowner`,
    [`${schema}.project`],
  );
  for (const { text } of grants) await session.run(text);
  await session.run(findAccess(schema));
  return before === undefined ? [copy] : [];
}

/** As the first schema has it, but without a worker. */
const findAccess = (schema: string): string => `
  CREATE OR REPLACE FUNCTION ${schema}.find_access(
    asked_hash text, asked_project text,
    OUT schema_version integer, OUT found_key ${schema}.api_key, OUT found_project ${schema}.project
  ) LANGUAGE plpgsql STABLE AS $function$
  BEGIN
    SELECT version INTO schema_version FROM ${schema}.schema_version;
    SELECT * INTO found_key FROM ${schema}.api_key WHERE hash = asked_hash;
    SELECT * INTO found_project FROM ${schema}.project_copy
      WHERE id = asked_project AND organization_id = found_key.organization_id;
  END
  $function$;
`;

/** Returns the name of the table, unless Citus manages it already. */
async function manage(session: Session, relation: string): Promise<string[]> {
  const known = await session.get('SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass', [
    relation,
  ]);
  if (known !== undefined) return [];
  await session.transaction(async () => {
    await session.run('SELECT citus_add_local_table_to_metadata($1::regclass)', [relation]);
    // The numbers begin again at 1 otherwise.
    await session.run(
      `SELECT setval(pg_get_serial_sequence($1, 'number'), number)
       FROM (SELECT max(number) AS number FROM ${relation}) AS last WHERE number IS NOT NULL`,
      [relation],
    );
  });
  return [relation];
}

async function requireCitus(session: Session, name: string): Promise<void> {
  const extension = await session.get<{ readonly version: string | null }>(FIND_EXTENSION);
  if (extension === undefined) {
    throw new CallerStatsError(
      'invalid',
      `The server of ${name} has no extension citus, so there is nothing to distribute over. A single PostgreSQL server ` +
        'needs no --distribute.',
    );
  }
  if (extension.version === null) {
    throw new CallerStatsError(
      'invalid',
      `The server of ${name} has the extension citus, but the database does not: run CREATE EXTENSION citus in it, add the ` +
        'workers with citus_add_node, and run this again.',
    );
  }
  const coordinator = await session.get('SELECT FROM pg_dist_node WHERE groupid = 0');
  if (coordinator === undefined) {
    throw new CallerStatsError(
      'invalid',
      `Citus does not know the address of its coordinator, the server of ${name}: run SELECT ` +
        "citus_set_coordinator_host('its host name') there, and run this again.",
    );
  }
}

async function isDistributed(session: Session, relation: string): Promise<boolean> {
  const row = await session.get(
    `SELECT logicalrelid FROM pg_dist_partition WHERE logicalrelid = $1::regclass AND partmethod = 'h'`,
    [relation],
  );
  return row !== undefined;
}
