/**
 * Passkeys, in the form that the sign-in library requires, and the rule of an organization that its members need a second factor.
 * Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.user_passkey (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL REFERENCES ${schema}.user_account (id) ON DELETE CASCADE,
    name text NOT NULL,
    relying_party_id text NOT NULL,
    credential_id text COLLATE "C" NOT NULL UNIQUE,
    public_key text NOT NULL,
    counter bigint NOT NULL,
    transports text NOT NULL,
    created_at timestamptz NOT NULL,
    last_used_at timestamptz
  );
`,
  `
  CREATE INDEX user_passkey_of_user ON ${schema}.user_passkey (user_id);
`,
  `
  -- Whether the provider of single sign-on checked a second factor.
  ALTER TABLE ${schema}.user_session ADD COLUMN provider_factor boolean;
`,
  `
  ALTER TABLE ${schema}.organization ADD COLUMN second_factor text NOT NULL DEFAULT 'optional'
    CHECK (second_factor IN ('optional', 'required'));
`,
];
