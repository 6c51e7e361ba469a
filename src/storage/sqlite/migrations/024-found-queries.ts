/**
 * What is known of queries in telemetry until their callers are certain, and what became known of queries on later days than those
 * of their arrival. Released: never change it.
 */
export const SQL = `
  CREATE TABLE found_query (
    project INTEGER NOT NULL,
    id TEXT NOT NULL,
    caller TEXT NOT NULL,
    is_named INTEGER NOT NULL,
    assumed TEXT,
    occurred_at INTEGER NOT NULL,
    counts_as TEXT,
    is_pending INTEGER NOT NULL,
    is_withdrawn INTEGER NOT NULL,
    found_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (project, id)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX found_query_by_end ON found_query (project, expires_at);
  CREATE INDEX found_query_pending ON found_query (project, id) WHERE is_pending = 1;

  CREATE TABLE late_change (
    project INTEGER NOT NULL,
    id ANY NOT NULL,
    day INTEGER NOT NULL,
    caller INTEGER NOT NULL,
    PRIMARY KEY (project, id, day)
  ) STRICT, WITHOUT ROWID;
`;
