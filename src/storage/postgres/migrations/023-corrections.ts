/**
 * Corrections: queries that were withdrawn or renamed later. The row of a withdrawn query has the level `-1 - level`, so that no
 * sum includes it. A receipt up to the project's `receipt_fence` gets no further queries, so that a correction knows what was
 * recorded before it. Released: never change it.
 */
const RECORD = 'record(text, bytea[], bigint[], text[], integer[], text[], integer[])';

export const sql = (schema: string, record: string): readonly string[] => [
  `ALTER TABLE ${schema}.project ADD COLUMN receipt_fence integer`,
  `ALTER TABLE ${schema}.imported_count ADD COLUMN withdrawn_by integer`,
  `CREATE TABLE ${schema}.correction (
    project_id text COLLATE "C" NOT NULL,
    number integer NOT NULL,
    id text COLLATE "C" NOT NULL,
    action text NOT NULL,
    to_caller text,
    request text NOT NULL,
    ids text,
    receipts_to integer NOT NULL,
    created_by text NOT NULL,
    address text,
    created_at bigint NOT NULL,
    figures text NOT NULL,
    position text,
    finished_at bigint,
    undone_by text COLLATE "C",
    PRIMARY KEY (project_id, number)
  )`,
  `CREATE INDEX correction_by_id ON ${schema}.correction (project_id, id)`,
  `CREATE INDEX correction_unfinished ON ${schema}.correction (project_id, number) WHERE finished_at IS NULL`,
  `CREATE TABLE ${schema}.corrected_query (
    project_id text COLLATE "C" NOT NULL,
    correction integer NOT NULL,
    id bytea NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, correction, id)
  )`,
  `CREATE INDEX corrected_query_by_id ON ${schema}.corrected_query (project_id, id)`,
  `DROP FUNCTION IF EXISTS ${schema}.${RECORD}`,
  record,
  // On a cluster, where the tables are.
  `DO $do$ BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
      IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = '${schema}.query'::regclass AND partmethod = 'h') THEN
        PERFORM create_distributed_table('${schema}.correction'::regclass, 'project_id', colocate_with => '${schema}.project');
        PERFORM create_distributed_table(
          '${schema}.corrected_query'::regclass, 'project_id', colocate_with => '${schema}.project');
        PERFORM create_distributed_function(
          '${schema}.${RECORD}'::regprocedure, 'asked_project', colocate_with => '${schema}.query');
      END IF;
    END IF;
  END $do$`,
];
