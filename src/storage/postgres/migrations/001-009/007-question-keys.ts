/**
 * The keys by which the questions of OpenTelemetry are told apart. Released: never change it.
 *
 * On Citus, where the queries are distributed, so is this table, because all rows of a project belong on one server.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.question_key (
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    query_id text NOT NULL,
    is_taken smallint NOT NULL,
    service text NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (project_id, name)
  );
`,
  `
  CREATE INDEX question_key_by_end ON ${schema}.question_key (project_id, expires_at);
`,
  `
  DO $distribute$
  BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.question_key', 'project_id', colocate_with => '${schema}.query');
      END IF;
    END IF;
  END
  $distribute$;
  `,
];
