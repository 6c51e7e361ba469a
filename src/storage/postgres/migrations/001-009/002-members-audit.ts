/** Key scopes, allowlists and rotation; members; the audit log. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `
  ALTER TABLE ${schema}.api_key
    ADD COLUMN disabled_at bigint,
    ADD COLUMN scopes text NOT NULL DEFAULT 'read,write',
    ADD COLUMN allow text NOT NULL DEFAULT '',
    ADD COLUMN successor_id text COLLATE "C";
`,
  `  UPDATE ${schema}.api_key SET scopes = 'write' WHERE type = 'recording';
`,
  `
  CREATE TABLE ${schema}.member (
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    email text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at bigint NOT NULL,
    PRIMARY KEY (organization_id, email)
  );
`,
  `
  CREATE TABLE ${schema}.audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    address text,
    action text NOT NULL,
    target_id text NOT NULL,
    detail text NOT NULL
  );
`,
  `
  CREATE INDEX audit_of_organization ON ${schema}.audit (organization_id, number);
`,
  `
  CREATE FUNCTION ${schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
  BEGIN
    RAISE EXCEPTION 'the audit log is never changed';
  END
  $function$;
`,
  `
  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON ${schema}.audit
    FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse_change();
  `,
];
