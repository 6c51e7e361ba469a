/** Organizations, projects, API keys, queries and their counters. Released: never change it. */
export const SQL = `
  CREATE TABLE organization (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  INSERT INTO organization (id, name, created_at) VALUES ('default', 'Default', 0);

  CREATE TABLE project (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE api_key (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    project_id TEXT REFERENCES project (id),
    type TEXT NOT NULL CHECK (type IN ('admin', 'recording')),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    start TEXT NOT NULL,
    "end" TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    CHECK ((type = 'recording') = (project_id IS NOT NULL))
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE caller (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  INSERT INTO caller (number, name) VALUES (0, 'web'), (1, 'api');

  CREATE TABLE query (
    project INTEGER NOT NULL,
    id ANY NOT NULL,
    occurred_at INTEGER NOT NULL,
    caller INTEGER NOT NULL,
    PRIMARY KEY (project, id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE counter (
    project INTEGER NOT NULL,
    level INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    web INTEGER NOT NULL,
    api INTEGER NOT NULL,
    other INTEGER NOT NULL,
    PRIMARY KEY (project, level, bucket)
  ) STRICT, WITHOUT ROWID;
  `;
