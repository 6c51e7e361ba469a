/** Counts from other systems, for history without queries. Released: never change it. */
export const SQL = `
  CREATE TABLE imported_count (
    project INTEGER NOT NULL,
    source TEXT NOT NULL,
    caller INTEGER NOT NULL,
    start_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    PRIMARY KEY (project, source, caller, start_at)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX imported_count_by_start ON imported_count (project, start_at);
  `;
