/**
 * How queries arrived: on which UTC day, and by whom. Each query has the number of a receipt of its project; null for those
 * that were recorded before this version. Numbers only ascend. Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.receipt (
    project_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    day integer NOT NULL,
    sender text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, number)
  )`,
  `CREATE INDEX receipt_by_sender ON ${schema}.receipt (project_id, day, sender, number)`,
  `ALTER TABLE ${schema}.query ADD COLUMN receipt integer`,
  `DROP FUNCTION IF EXISTS ${schema}.record(text, bytea[], bigint[], text[])`,
  // On a cluster, where the tables are.
  `DO $do$ BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.receipt'::regclass, 'project_id', colocate_with => '${schema}.project');
      END IF;
    END IF;
  END $do$`,
];
