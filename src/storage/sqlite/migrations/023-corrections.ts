/**
 * Corrections: queries that were withdrawn or renamed later. The row of a withdrawn query has the caller `-1 - caller`, so that
 * no sum includes it. A receipt up to the project's `receipt_fence` gets no further queries, so that a correction knows what was
 * recorded before it. `revision` changes with each step of a correction, because caches rely on it. Counters have another name,
 * so that processes of an earlier version fail instead of counting wrongly. Released: never change it.
 */
export const SQL = `
  ALTER TABLE type_counter RENAME TO caller_type_counter;

  ALTER TABLE project ADD COLUMN receipt_fence INTEGER;
  ALTER TABLE project ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

  -- The correction that withdrew it.
  ALTER TABLE imported_count ADD COLUMN withdrawn_by INTEGER;

  CREATE TABLE correction (
    project INTEGER NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    action TEXT NOT NULL,
    to_caller TEXT,
    request TEXT NOT NULL,
    ids TEXT,
    receipts_to INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    address TEXT,
    created_at INTEGER NOT NULL,
    figures TEXT NOT NULL,
    position TEXT,
    finished_at INTEGER,
    undone_by TEXT,
    PRIMARY KEY (project, number),
    UNIQUE (project, id)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX correction_unfinished ON correction (project, number) WHERE finished_at IS NULL;

  -- The queries that a correction changed, with the callers for which they counted before.
  CREATE TABLE corrected_query (
    project INTEGER NOT NULL,
    correction INTEGER NOT NULL,
    id ANY NOT NULL,
    caller INTEGER NOT NULL,
    PRIMARY KEY (project, correction, id)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX corrected_query_by_id ON corrected_query (project, id);
`;
