/**
 * Queries of quiet times, kept one by one instead of in counters of their millisecond. Those of a bucket are in no narrower
 * counters (`counters/moments.ts`); what was counted before stays in counters of all levels. Counters have another name, so that
 * processes of an earlier version fail instead of counting wrongly. Released: never change it.
 */
export const SQL = `
  ALTER TABLE caller_type_counter RENAME TO query_counter;

  CREATE TABLE moment (
    project INTEGER NOT NULL,
    level INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    queries BLOB NOT NULL,
    PRIMARY KEY (project, level, bucket)
  ) STRICT, WITHOUT ROWID;
`;
