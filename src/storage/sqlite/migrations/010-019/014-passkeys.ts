/**
 * Passkeys, in the form that the sign-in library requires, and the rule of an organization that its members need a second factor.
 * Released: never change it.
 */
export const SQL = `
  CREATE TABLE user_passkey (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    relying_party_id TEXT NOT NULL,
    credential_id TEXT NOT NULL UNIQUE,
    public_key TEXT NOT NULL,
    counter INTEGER NOT NULL,
    transports TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX user_passkey_of_user ON user_passkey (user_id);

  -- Whether the provider of single sign-on checked a second factor.
  ALTER TABLE user_session ADD COLUMN provider_factor INTEGER;

  ALTER TABLE organization ADD COLUMN second_factor TEXT NOT NULL DEFAULT 'optional'
    CHECK (second_factor IN ('optional', 'required'));
`;
