/** What arrives, counted by source. Released: never change it. */
export const SQL = `
  CREATE TABLE ingestion_source (
    project INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (project, kind, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE ingestion_count (
    project INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    operation TEXT NOT NULL,
    requests INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    arrived INTEGER NOT NULL,
    recorded INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    unmatched INTEGER NOT NULL,
    PRIMARY KEY (project, bucket, kind, name, operation)
  ) STRICT, WITHOUT ROWID;
  `;
