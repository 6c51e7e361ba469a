/**
 * What arrives, counted by source. Released: never change it.
 *
 * On Citus, where the queries are distributed, so are these tables, because all rows of a project belong on one server.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.ingestion_source (
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    seen_at bigint NOT NULL,
    PRIMARY KEY (project_id, kind, name)
  );
`,
  `
  CREATE TABLE ${schema}.ingestion_count (
    project_id text COLLATE "C" NOT NULL,
    bucket bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    requests bigint NOT NULL,
    refused bigint NOT NULL,
    arrived bigint NOT NULL,
    recorded bigint NOT NULL,
    duplicates bigint NOT NULL,
    rejected bigint NOT NULL,
    unmatched bigint NOT NULL,
    PRIMARY KEY (project_id, bucket, kind, name, operation)
  );
`,
  `
  DO $distribute$
  BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.ingestion_source', 'project_id', colocate_with => '${schema}.query');
        PERFORM create_distributed_table('${schema}.ingestion_count', 'project_id', colocate_with => '${schema}.query');
      END IF;
    END IF;
  END
  $distribute$;
  `,
];
