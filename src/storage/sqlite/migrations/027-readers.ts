/** Members who may read only certain projects, and which: their ids, with commas. Released: never change it. */
export const SQL = `
  ALTER TABLE member RENAME TO member_before;
  CREATE TABLE member (
    organization_id TEXT NOT NULL REFERENCES organization (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer', 'reader')),
    projects TEXT NOT NULL DEFAULT '' CHECK (projects = '' OR role = 'reader'),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, email)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO member (organization_id, email, role, created_at)
    SELECT organization_id, email, role, created_at FROM member_before;
  DROP TABLE member_before;
  CREATE INDEX member_by_email ON member (email);

  ALTER TABLE invitation RENAME TO invitation_before;
  CREATE TABLE invitation (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    email TEXT,
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer', 'reader')),
    projects TEXT NOT NULL DEFAULT '' CHECK (projects = '' OR role = 'reader'),
    token_hash TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (organization_id, email)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO invitation (id, organization_id, email, role, token_hash, created_by, created_at, expires_at)
    SELECT id, organization_id, email, role, token_hash, created_by, created_at, expires_at FROM invitation_before;
  DROP TABLE invitation_before;
`;
