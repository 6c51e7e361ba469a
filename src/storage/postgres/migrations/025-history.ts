/**
 * What is needed to know the counts of an earlier day: `known_from` is the time of this upgrade, null for projects that are made
 * later, because of what was recorded before nobody knows when it arrived. Imported counts get the UTC day of their arrival, and
 * `withdrawn_count` has those that each correction has withdrawn, also after it was undone. Released: never change it.
 */
const OLD = 'import_counts(text, text[], text[], bigint[], bigint[], bigint[])';
const NEW = 'import_counts(text, text[], text[], bigint[], bigint[], bigint[], integer[])';

export const sql = (schema: string, importCounts: string): readonly string[] => [
  `ALTER TABLE ${schema}.project ADD COLUMN known_from bigint`,
  `UPDATE ${schema}.project SET known_from = ceil(extract(epoch FROM now()))::bigint * 1000`,
  `ALTER TABLE ${schema}.imported_count ADD COLUMN day integer`,
  `CREATE TABLE ${schema}.withdrawn_count (
    project_id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    start_at bigint NOT NULL,
    correction integer NOT NULL,
    PRIMARY KEY (project_id, source, caller, start_at, correction)
  )`,
  `DROP FUNCTION IF EXISTS ${schema}.${OLD}`,
  importCounts,
  // On a cluster, where the tables are.
  `DO $do$ BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table(
          '${schema}.withdrawn_count'::regclass, 'project_id', colocate_with => '${schema}.project');
        PERFORM create_distributed_function(
          '${schema}.${NEW}'::regprocedure, 'asked_project', colocate_with => '${schema}.query');
      END IF;
    END IF;
  END $do$`,
  `INSERT INTO ${schema}.withdrawn_count (project_id, source, caller, start_at, correction)
  SELECT project_id, source, caller, start_at, withdrawn_by FROM ${schema}.imported_count WHERE withdrawn_by IS NOT NULL`,
];
