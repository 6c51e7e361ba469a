/** Key scopes, allowlists and rotation; members; the audit log. Released: never change it. */
export const SQL = `
  ALTER TABLE api_key ADD COLUMN disabled_at INTEGER;
  ALTER TABLE api_key ADD COLUMN scopes TEXT NOT NULL DEFAULT 'read,write';
  ALTER TABLE api_key ADD COLUMN allow TEXT NOT NULL DEFAULT '';
  ALTER TABLE api_key ADD COLUMN successor_id TEXT;
  UPDATE api_key SET scopes = 'write' WHERE type = 'recording';

  CREATE TABLE member (
    organization_id TEXT NOT NULL REFERENCES organization (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, email)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    organization_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    address TEXT,
    action TEXT NOT NULL,
    target_id TEXT NOT NULL,
    detail TEXT NOT NULL
  ) STRICT;

  CREATE INDEX audit_of_organization ON audit (organization_id, number);

  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is never changed');
  END;
  `;
