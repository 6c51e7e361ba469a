/**
 * On Citus, makes changes of a project and their audit entries one. Released: never change it.
 *
 * A project is on a worker, and the audit log on the coordinator. Citus commits to both in two phases only if it manages both
 * tables; otherwise the worker commits first, and a coordinator that is killed then has no audit entry. Managing a table
 * begins its numbers again at 1.
 */
export const sql = (schema: string): readonly string[] => [
  `
  DO $manage$
  BEGIN
    IF to_regclass('pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        IF NOT EXISTS (SELECT FROM pg_dist_node WHERE groupid = 0) THEN
          RAISE EXCEPTION USING ERRCODE = 'CS002', MESSAGE = 'the coordinator is not in pg_dist_node';
        END IF;
        PERFORM citus_add_local_table_to_metadata('${schema}.audit');
        PERFORM setval(pg_get_serial_sequence('${schema}.audit', 'number'), number)
          FROM (SELECT max(number) AS number FROM ${schema}.audit) AS last WHERE number IS NOT NULL;
      END IF;
    END IF;
  END
  $manage$`,
];
