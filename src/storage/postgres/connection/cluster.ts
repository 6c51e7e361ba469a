/** The servers of a Citus cluster: which of them work. */
import { type ServerState, statsTimeoutMs } from '../../ports/store-stats.js';
import type { Session as SqlSession } from '../../sql/session.js';
import { withDatabaseDeadline } from './database.js';
import { unavailable } from './errors.js';

/** A server that has projects, and the id of one that is or would be there. */
export interface ShardServer {
  readonly name: string;
  readonly projectId: string;
}

/** How many ids are tried to find one for each server. Citus makes 32 shards. */
const idsTried = 500;

/** Whether the database has Citus. */
export const HAS_CITUS = `SELECT FROM pg_catalog.pg_extension WHERE extname = 'citus'`;

/** The servers of the projects of a schema, none unless it is distributed. Only for a database with Citus. */
export function serversOf(schema: string): string {
  return `SELECT node.nodename || ':' || node.nodeport AS name, min(tried.id) AS "projectId"
    FROM pg_dist_partition AS distributed
    CROSS JOIN LATERAL (
      SELECT number::text AS id, get_shard_id_for_distribution_column(distributed.logicalrelid, number::text) AS shard_id
      FROM generate_series(1, ${idsTried}) AS number
    ) AS tried
    JOIN pg_dist_placement AS placement ON placement.shardid = tried.shard_id
    JOIN pg_dist_node AS node ON node.groupid = placement.groupid AND node.noderole = 'primary'
    WHERE distributed.logicalrelid = '${schema}.project'::regclass AND distributed.partmethod = 'h'
    GROUP BY 1 ORDER BY 1`;
}

/** What a distributed schema has of what `migrate --distribute` adds. */
interface Additions {
  readonly hasCopy: boolean;
  /** New definitions of the functions that a cluster needs in another form. */
  readonly functions: readonly string[];
}

/** Undefined unless the schema is distributed. */
export async function findAdditions(
  session: Pick<SqlSession, 'all'>,
  schema: string,
): Promise<Additions | undefined> {
  if ((await session.all(HAS_CITUS)).length === 0) return undefined;
  const [found] = await session.all<Pick<Additions, 'hasCopy'>>(
    `SELECT to_regclass('${schema}.project_copy') IS NOT NULL AS "hasCopy"
     FROM pg_dist_partition WHERE logicalrelid = to_regclass('${schema}.project') AND partmethod = 'h'`,
  );
  return found && { ...found, functions: await findFunctions(session, schema) };
}

/** Changes nothing. Keeps Citus from moving or splitting the shard of the project `$1` until the transaction ends. */
export function holdShard(schema: string): string {
  return `DELETE FROM ${schema}.receipt WHERE project_id = $1 AND number = -1`;
}

/** The functions that run an `INSERT … SELECT`. */
export const SELECTING = ['record', 'import_counts'];

/** Finds the functions that a cluster needs in another form. Returns their new definitions. */
export async function findFunctions({ all }: Pick<SqlSession, 'all'>, schema: string): Promise<string[]> {
  const found = await all<{ readonly text: string }>(
    `SELECT pg_get_functiondef(oid) AS text FROM pg_catalog.pg_proc
     WHERE pronamespace = to_regnamespace($1) AND proname = ANY ($2)`,
    [schema, SELECTING],
  );
  return found.flatMap(({ text }) => {
    const adapted = forCluster(text, schema);
    return adapted === text ? [] : [adapted];
  });
}

/**
 * A function for a cluster:
 * - It holds the shard first. Without that, when Citus 13.2 waits for a split while it plans an `INSERT … SELECT`, it plans for shards
 *   that no longer exist: nothing is inserted, and there is no error. It uses `EXECUTE` for the reason below.
 * - Each statement that reads one table calls a volatile function, here `random`. Otherwise Citus 13.2 makes a new plan on the worker for
 *   each call, and keeps all of them (`GetCachedLocalPlan` never finds one): 49 KB each.
 */
function forCluster(text: string, schema: string): string {
  const hold = `EXECUTE '${holdShard(schema)}' USING asked_project;`;
  const held = text.includes(hold) ? text : text.replace('BEGIN', () => `BEGIN\n    ${hold}`);
  return held.replace(
    'coalesce(receipt_fence, 0) AS receipt_fence',
    'coalesce(receipt_fence, 0) + (random() * 0)::integer AS receipt_fence',
  );
}

/**
 * How many projects each server has, and the bytes of its shards of the schema: null if it does not say. Only for a distributed
 * schema.
 */
export function projectsOfServers(schema: string): string {
  return `WITH size AS (
      SELECT placement.groupid, sum(sizes.size)::float8 AS bytes
      FROM pg_dist_partition AS distributed
      JOIN pg_class AS class ON class.oid = distributed.logicalrelid AND class.relnamespace = '${schema}'::regnamespace
      JOIN pg_dist_shard AS shard ON shard.logicalrelid = distributed.logicalrelid
      JOIN pg_dist_placement AS placement ON placement.shardid = shard.shardid
      LEFT JOIN citus_shard_sizes() AS sizes ON sizes.shard_id = shard.shardid
      WHERE distributed.partmethod = 'h' GROUP BY 1
    )
    SELECT node.nodename || ':' || node.nodeport AS name, count(placed.id)::integer AS projects,
      CASE WHEN size.groupid IS NULL THEN 0 ELSE size.bytes END AS bytes
    FROM pg_dist_node AS node
    LEFT JOIN size USING (groupid)
    LEFT JOIN (
      SELECT copy.id, placement.groupid FROM ${schema}.project_copy AS copy
      JOIN pg_dist_placement AS placement
        ON placement.shardid = get_shard_id_for_distribution_column('${schema}.project'::regclass, copy.id)
    ) AS placed USING (groupid)
    WHERE node.noderole = 'primary' AND (node.shouldhaveshards OR placed.id IS NOT NULL)
    GROUP BY 1, size.groupid, size.bytes ORDER BY 1`;
}

/** Counts on each server, in parallel. Which of them works is known within `statsTimeoutMs`. */
export function probeServers(
  servers: readonly ShardServer[],
  count: (projectId: string) => Promise<unknown>,
): Promise<ServerState[]> {
  return Promise.all(
    servers.map(async ({ name, projectId }) => {
      const counting = withDatabaseDeadline(statsTimeoutMs, () => count(projectId));
      return counting.then(() => ({ name, isUp: true })).catch(() => ({ name, isUp: false }));
    }),
  );
}

/** Resolves as soon as a count succeeds on any of the servers, which serves its projects then. */
export async function requireAnyServer(
  servers: readonly ShardServer[],
  count: (projectId: string) => Promise<unknown>,
): Promise<void> {
  try {
    await Promise.any(servers.map(({ projectId }) => count(projectId)));
  } catch (error) {
    const names = servers.map(({ name }) => name).join(', ');
    throw unavailable(`The database cannot be used now: none of its servers can: ${names}.`, error);
  }
}
