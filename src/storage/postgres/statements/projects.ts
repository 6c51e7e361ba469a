/** Finds projects, and keeps others from changing them. */
import { KEY, PROJECT } from '../../sql/rows.js';
import { holdShard, serversOf } from '../connection/cluster.js';
import { ACCESS_STAMP } from './shared.js';

export function projectStatements(schema: string) {
  return {
    databaseSize: 'SELECT pg_database_size(current_database()) AS bytes',
    findServers: serversOf(schema),
    version: `SELECT version FROM ${schema}.schema_version`,
    findAccess: `SELECT schema_version AS "schemaVersion", ${KEY.select('(found_key)')},
        ${PROJECT.select('(found_project)', 'found')},
        CASE WHEN $3::boolean AND to_regclass('${schema}.project_copy') IS NULL THEN ${ACCESS_STAMP} END AS stamp
      FROM ${schema}.find_access($1, $2)`,
    // See `project-copy.ts`.
    findCopy: `SELECT FROM pg_catalog.pg_tables WHERE schemaname = '${schema}' AND tablename = 'project_copy'`,
    // See `connection/workers.ts`.
    findPlace: `SELECT node.nodename AS host, node.nodeport AS port, node.groupid AS group, shards
      FROM (
        SELECT json_object_agg(class.relname, get_shard_id_for_distribution_column(class.oid::regclass, $1::text)) AS shards
        FROM pg_dist_partition AS distributed JOIN pg_class AS class ON class.oid = distributed.logicalrelid
        WHERE distributed.partmethod = 'h' AND class.relnamespace = '${schema}'::regnamespace
      ) AS found
      JOIN pg_dist_placement AS placement ON placement.shardid = (shards->>'project')::bigint
      JOIN pg_dist_node AS node ON node.groupid = placement.groupid AND node.noderole = 'primary'`,
    removeCopy: `DELETE FROM ${schema}.project_copy WHERE id = $1`,
    readForCopy: `SELECT to_jsonb(project)::text AS project FROM ${schema}.project WHERE id = $1 AND deleted_at IS NULL`,
    writeCopy: `INSERT INTO ${schema}.project_copy SELECT * FROM jsonb_populate_record(NULL::${schema}.project_copy, $1)`,
    // In one form, whatever the order of their columns.
    readProjects: `SELECT id, to_jsonb(project)::text AS row FROM ${schema}.project WHERE deleted_at IS NULL`,
    readCopies: `SELECT id, to_jsonb(project_copy)::text AS row FROM ${schema}.project_copy`,
    // Waits for changes in progress; the next ones wait.
    holdProjects: `LOCK TABLE ${schema}.project IN SHARE MODE`,
    // On a cluster; see `OpenDatabase.changeProject`.
    holdShard: holdShard(schema),
    // Waits for recordings in progress, and blocks others until the transaction ends; see the function `record`.
    stopRecording: `SELECT pg_advisory_xact_lock(hashtextextended('${schema}.' || project.id, 0))
      FROM ${schema}.project WHERE id = $1`,
    shareRecording: `SELECT pg_advisory_xact_lock_shared(hashtextextended('${schema}.' || project.id, 0))
      FROM ${schema}.project WHERE id = $1`,
    listProjectIds: `SELECT id, rows_from AS "rowsFrom" FROM ${schema}.project WHERE deleted_at IS NULL ORDER BY id`,
  };
}
