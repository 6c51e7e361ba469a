/**
 * Accounts, sessions and invitations. The `user_` tables have the form that the sign-in library requires. Released: never
 * change it.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.user_account (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text NOT NULL,
    email text COLLATE "C" NOT NULL UNIQUE,
    email_verified boolean NOT NULL,
    image text,
    two_factor_enabled boolean,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  );
`,
  `
  CREATE TABLE ${schema}.user_session (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    token text COLLATE "C" NOT NULL UNIQUE,
    user_id text COLLATE "C" NOT NULL REFERENCES ${schema}.user_account (id) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    ip_address text,
    user_agent text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  );
`,
  `
  CREATE INDEX user_session_of_user ON ${schema}.user_session (user_id);
`,
  `
  CREATE TABLE ${schema}.user_credential (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL REFERENCES ${schema}.user_account (id) ON DELETE CASCADE,
    account_id text COLLATE "C" NOT NULL,
    provider_id text COLLATE "C" NOT NULL,
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at timestamptz,
    refresh_token_expires_at timestamptz,
    scope text,
    password text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (provider_id, account_id)
  );
`,
  `
  CREATE INDEX user_credential_of_user ON ${schema}.user_credential (user_id);
`,
  `
  CREATE TABLE ${schema}.user_verification (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    identifier text COLLATE "C" NOT NULL,
    value text NOT NULL,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  );
`,
  `
  CREATE INDEX user_verification_by_identifier ON ${schema}.user_verification (identifier);
`,
  `
  CREATE TABLE ${schema}.user_second_factor (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL REFERENCES ${schema}.user_account (id) ON DELETE CASCADE,
    secret text NOT NULL,
    backup_codes text NOT NULL,
    verified boolean,
    failed_verification_count integer,
    locked_until timestamptz
  );
`,
  `
  CREATE INDEX user_second_factor_of_user ON ${schema}.user_second_factor (user_id);
`,
  `
  CREATE TABLE ${schema}.invitation (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    email text COLLATE "C",
    role text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    token_hash text COLLATE "C" NOT NULL UNIQUE,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    UNIQUE (organization_id, email)
  );
`,
  `
  CREATE INDEX member_by_email ON ${schema}.member (email);
`,
  `
  CREATE TABLE ${schema}.server_secret (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    value text NOT NULL
  );
`,
];
