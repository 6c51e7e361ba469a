/** Removes deleted projects. */

export function removalStatements(schema: string) {
  const removeRows = (table: string, columns: string) => `WITH removed AS (
        DELETE FROM ${schema}.${table} WHERE project_id = $1 AND (${columns}) IN (
          SELECT ${columns} FROM ${schema}.${table} WHERE project_id = $1 ORDER BY ${columns} LIMIT $2)
        RETURNING 1
      ) SELECT count(*) AS removed FROM removed`;
  return {
    markDeleted: `UPDATE ${schema}.project SET deleted_at = $2 WHERE id = $1`,
    findDeleted: `SELECT id FROM ${schema}.project WHERE deleted_at IS NOT NULL ORDER BY deleted_at, id LIMIT 1`,
    lockDeleted: `SELECT id FROM ${schema}.project WHERE id = $1 AND deleted_at IS NOT NULL FOR UPDATE`,
    // Applies to the rest of the transaction. With missing or old statistics, the planner would read and sort all rows of
    // a project to find the first few.
    keepToIndex: `SELECT set_config(name, 'off', true)
      FROM unnest(ARRAY['enable_seqscan', 'enable_bitmapscan', 'enable_sort', 'enable_hashjoin']) AS name`,
    removeQueries: `WITH removed AS (
        DELETE FROM ${schema}.query WHERE project_id = $1 AND id = ANY (ARRAY(
          SELECT id FROM ${schema}.query WHERE project_id = $1 ORDER BY id LIMIT $2)) RETURNING 1
      ) SELECT count(*) AS removed FROM removed`,
    removeTypeCounters: removeRows('caller_type_counter', 'level, bucket'),
    removeCallerCounters: removeRows('caller_counter', 'level, bucket, caller'),
    removeQueryKeys: removeRows('question_key', 'name'),
    removeFoundQueries: removeRows('found_query', 'id'),
    removeLateChanges: removeRows('late_change', 'id, day'),
    removeIngestionSources: removeRows('ingestion_source', 'kind, name'),
    removeIngestionCounts: removeRows('ingestion_count', 'bucket, kind, name, operation'),
    removeCorrections: removeRows('correction', 'number'),
    removeCorrectedQueries: removeRows('corrected_query', 'correction, id'),
    removeReceipts: removeRows('receipt', 'number'),
    removeImportRanges: removeRows('import_range', 'day, sender'),
    removeWithdrawnCounts: removeRows('withdrawn_count', 'source, caller, start_at, correction'),
    removeImportedCounts: removeRows('imported_count', 'source, caller, start_at'),
    removeProject: `DELETE FROM ${schema}.project WHERE id = $1 AND deleted_at IS NOT NULL`,
  };
}
