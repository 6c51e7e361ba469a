/** When what each import brought occurred, by the UTC day on which it arrived. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.import_range (
    project_id text COLLATE "C" NOT NULL,
    day integer NOT NULL,
    sender text COLLATE "C" NOT NULL,
    first_at bigint NOT NULL,
    last_at bigint NOT NULL,
    PRIMARY KEY (project_id, day, sender)
  )`,
  // On a cluster, where the tables are.
  `DO $do$ BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.import_range'::regclass, 'project_id', colocate_with => '${schema}.project');
      END IF;
    END IF;
  END $do$`,
];
