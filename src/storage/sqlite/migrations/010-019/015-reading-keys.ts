/** Keys that read one project. SQLite cannot change a check, so the table is created again. Released: never change it. */
export const SQL = `
  CREATE TABLE new_api_key (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    project_id TEXT REFERENCES project (id),
    type TEXT NOT NULL CHECK (type IN ('admin', 'recording', 'reading')),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    start TEXT NOT NULL,
    "end" TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    disabled_at INTEGER,
    scopes TEXT NOT NULL DEFAULT 'read,write',
    allow TEXT NOT NULL DEFAULT '',
    successor_id TEXT,
    CHECK ((type = 'admin') = (project_id IS NULL))
  ) STRICT, WITHOUT ROWID;

  INSERT INTO new_api_key (
      id, organization_id, project_id, type, name, hash, start, "end", created_by, created_at, expires_at, revoked_at,
      last_used_at, disabled_at, scopes, allow, successor_id
    ) SELECT
      id, organization_id, project_id, type, name, hash, start, "end", created_by, created_at, expires_at, revoked_at,
      last_used_at, disabled_at, scopes, allow, successor_id
    FROM api_key;

  DROP TABLE api_key;

  ALTER TABLE new_api_key RENAME TO api_key;
`;
