/** Public links to the counts of one project. Released: never change it. */
export const SQL = `
  CREATE TABLE share_link (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    project_id TEXT NOT NULL REFERENCES project (id),
    name TEXT NOT NULL,
    token_hash TEXT NOT NULL UNIQUE,
    "end" TEXT NOT NULL,
    password_hash TEXT,
    origins TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX share_link_of_project ON share_link (project_id);
`;
