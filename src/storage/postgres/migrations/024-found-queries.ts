/**
 * What is known of queries in telemetry until their callers are certain, and what became known of queries on later days than those
 * of their arrival. Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.found_query (
    project_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    is_named integer NOT NULL,
    assumed text COLLATE "C",
    occurred_at bigint NOT NULL,
    counts_as text COLLATE "C",
    is_pending integer NOT NULL,
    is_withdrawn integer NOT NULL,
    found_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (project_id, id)
  )`,
  `CREATE INDEX found_query_by_end ON ${schema}.found_query (project_id, expires_at)`,
  `CREATE INDEX found_query_pending ON ${schema}.found_query (project_id, id) WHERE is_pending = 1`,
  `CREATE TABLE ${schema}.late_change (
    project_id text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    day integer NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, id, day)
  )`,
  // On a cluster, where the tables are.
  `DO $do$ BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.found_query'::regclass, 'project_id', colocate_with => '${schema}.project');
        PERFORM create_distributed_table('${schema}.late_change'::regclass, 'project_id', colocate_with => '${schema}.project');
      END IF;
    END IF;
  END $do$`,
];
