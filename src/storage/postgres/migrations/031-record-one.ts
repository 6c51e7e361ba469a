/** A function for single queries, and one without them for several. Released: never change it. */
const RECORD_ONE = 'record_one(text, bytea, bigint, text, integer, text)';

export const sql = (schema: string, record: string, recordOne: string): readonly string[] => [
  record,
  recordOne,
  // On a cluster, where the tables are.
  `DO $do$ BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_function(
          '${schema}.${RECORD_ONE}'::regprocedure, 'asked_project', colocate_with => '${schema}.query');
      END IF;
    END IF;
  END $do$`,
];
