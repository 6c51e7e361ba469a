/**
 * The schema of the first release, without the functions that later versions bring. Released: never change it.
 *
 * - `query.id` holds the bytes of `query-id.ts`. A query is in the counters of its `level` and of all wider levels; without a
 *   level, in all. The new rows of a level are at the end of its index, whose pages become full.
 * - `caller_type_counter` has a row per project, bucket level and bucket (see `domain/counting/buckets.ts`). `caller_counter`
 *   also has one per caller of type other. Their pages leave room for updates of busy buckets.
 * - Tables that stay on the coordinator of a Citus cluster do not refer to those that do not, such as `project`.
 * - The `user_` tables have the form that the sign-in library requires.
 */
const organizationsAndProjects = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.schema_version (
    version integer NOT NULL,
    single boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (single)
  )`,
  `CREATE TABLE ${schema}.organization (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text NOT NULL,
    created_at bigint NOT NULL,
    second_factor text NOT NULL DEFAULT 'optional' CHECK (second_factor IN ('optional', 'required'))
  )`,
  `INSERT INTO ${schema}.organization (id, name, created_at) VALUES ('default', 'Default', 0)`,
  `CREATE TABLE ${schema}.project (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    time_zone text,
    retention_days integer,
    rows_from bigint,
    swept_id bytea,
    deleted_at bigint,
    -- OpenTelemetry settings, as JSON.
    telemetry text
  )`,
  `CREATE TABLE ${schema}.api_key (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    project_id text COLLATE "C",
    type text NOT NULL CHECK (type IN ('admin', 'recording', 'reading')),
    name text NOT NULL,
    hash text COLLATE "C" NOT NULL UNIQUE,
    start text NOT NULL,
    "end" text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    last_used_at bigint,
    disabled_at bigint,
    scopes text NOT NULL DEFAULT 'read,write',
    allow text NOT NULL DEFAULT '',
    successor_id text COLLATE "C",
    CHECK ((type = 'admin') = (project_id IS NULL))
  )`,
  `CREATE TABLE ${schema}.share_link (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    project_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    token_hash text COLLATE "C" NOT NULL UNIQUE,
    "end" text NOT NULL,
    password_hash text,
    origins text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint
  )`,
  `CREATE INDEX share_link_of_project ON ${schema}.share_link (project_id)`,
];

const queriesAndCounters = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.query (
    occurred_at bigint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id bytea NOT NULL,
    caller text COLLATE "C" NOT NULL,
    level smallint,
    PRIMARY KEY (project_id, id)
  )`,
  `CREATE INDEX query_of_ten_seconds ON ${schema}.query (project_id, occurred_at) WHERE level = 1`,
  `CREATE INDEX query_of_quarter ON ${schema}.query (project_id, occurred_at) WHERE level = 2`,
  `CREATE TABLE ${schema}.caller_type_counter (
    bucket bigint NOT NULL,
    web bigint NOT NULL,
    api bigint NOT NULL,
    other bigint NOT NULL,
    level smallint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    CONSTRAINT counter_pkey PRIMARY KEY (project_id, level, bucket)
  ) WITH (fillfactor = 80)`,
  `CREATE TABLE ${schema}.caller_counter (
    bucket bigint NOT NULL,
    queries bigint NOT NULL,
    level smallint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, level, bucket, caller)
  ) WITH (fillfactor = 80)`,
  `-- Counts from other systems, for history without queries.
  CREATE TABLE ${schema}.imported_count (
    start_at bigint NOT NULL,
    end_at bigint NOT NULL,
    queries bigint NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    caller text COLLATE "C" NOT NULL,
    PRIMARY KEY (project_id, source, caller, start_at)
  )`,
  `CREATE INDEX imported_count_by_start ON ${schema}.imported_count (project_id, start_at)`,
  `-- The keys by which the queries of OpenTelemetry are told apart.
  CREATE TABLE ${schema}.question_key (
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    query_id text NOT NULL,
    is_taken smallint NOT NULL,
    service text NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (project_id, name)
  )`,
  `CREATE INDEX question_key_by_end ON ${schema}.question_key (project_id, expires_at)`,
  `-- What arrives, counted by source.
  CREATE TABLE ${schema}.ingestion_source (
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    seen_at bigint NOT NULL,
    PRIMARY KEY (project_id, kind, name)
  )`,
  `CREATE TABLE ${schema}.ingestion_count (
    project_id text COLLATE "C" NOT NULL,
    bucket bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    requests bigint NOT NULL,
    refused bigint NOT NULL,
    arrived bigint NOT NULL,
    recorded bigint NOT NULL,
    duplicates bigint NOT NULL,
    rejected bigint NOT NULL,
    unmatched bigint NOT NULL,
    PRIMARY KEY (project_id, bucket, kind, name, operation)
  )`,
];

const membersAndAudit = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.member (
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    email text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at bigint NOT NULL,
    PRIMARY KEY (organization_id, email)
  )`,
  `CREATE INDEX member_by_email ON ${schema}.member (email)`,
  `CREATE TABLE ${schema}.invitation (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id),
    email text COLLATE "C",
    role text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    token_hash text COLLATE "C" NOT NULL UNIQUE,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    UNIQUE (organization_id, email)
  )`,
  `CREATE TABLE ${schema}.audit (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    actor text NOT NULL,
    address text,
    action text NOT NULL,
    target_id text NOT NULL,
    detail text NOT NULL
  )`,
  `CREATE INDEX audit_of_organization ON ${schema}.audit (organization_id, number)`,
  `CREATE INDEX audit_of_actor ON ${schema}.audit (organization_id, actor, number)`,
  `CREATE INDEX audit_of_action ON ${schema}.audit (organization_id, action, number)`,
  `CREATE INDEX audit_of_target ON ${schema}.audit (organization_id, target_id, number)`,
  `CREATE FUNCTION ${schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $function$
  BEGIN
    RAISE EXCEPTION 'the audit log is never changed';
  END
  $function$`,
  `CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON ${schema}.audit
    FOR EACH ROW EXECUTE FUNCTION ${schema}.refuse_change()`,
];

const signIn = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.user_account (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    name text NOT NULL,
    email text COLLATE "C" NOT NULL UNIQUE,
    email_verified boolean NOT NULL,
    image text,
    two_factor_enabled boolean,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  `CREATE TABLE ${schema}.user_session (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    token text COLLATE "C" NOT NULL UNIQUE,
    user_id text COLLATE "C" NOT NULL REFERENCES ${schema}.user_account (id) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL,
    ip_address text,
    user_agent text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- Whether the provider of single sign-on checked a second factor.
    provider_factor boolean
  )`,
  `CREATE INDEX user_session_of_user ON ${schema}.user_session (user_id)`,
  `CREATE TABLE ${schema}.user_credential (
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
  )`,
  `CREATE INDEX user_credential_of_user ON ${schema}.user_credential (user_id)`,
  `CREATE TABLE ${schema}.user_verification (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    identifier text COLLATE "C" NOT NULL,
    value text NOT NULL,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- For trusted devices.
    ip_address text,
    user_agent text
  )`,
  `CREATE INDEX user_verification_by_identifier ON ${schema}.user_verification (identifier)`,
  `CREATE TABLE ${schema}.user_second_factor (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    user_id text COLLATE "C" NOT NULL REFERENCES ${schema}.user_account (id) ON DELETE CASCADE,
    secret text NOT NULL,
    backup_codes text NOT NULL,
    verified boolean,
    failed_verification_count integer,
    locked_until timestamptz,
    -- The time step of the last code that was accepted.
    last_step bigint NOT NULL DEFAULT 0,
    -- The hash function of the codes.
    algorithm text NOT NULL DEFAULT 'SHA1' CHECK (algorithm IN ('SHA256', 'SHA1'))
  )`,
  `CREATE INDEX user_second_factor_of_user ON ${schema}.user_second_factor (user_id)`,
  `CREATE TABLE ${schema}.user_passkey (
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
  )`,
  `CREATE INDEX user_passkey_of_user ON ${schema}.user_passkey (user_id)`,
  `CREATE TABLE ${schema}.server_secret (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    value text NOT NULL
  )`,
  `-- Counts of failed attempts, shared by all nodes.
  CREATE TABLE ${schema}.login_throttle (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    attempts integer NOT NULL,
    resets_at bigint NOT NULL
  )`,
  `CREATE INDEX login_throttle_by_end ON ${schema}.login_throttle (resets_at)`,
];

const notifications = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.notification (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    organization_id text COLLATE "C" NOT NULL REFERENCES ${schema}.organization (id) ON DELETE CASCADE,
    project_id text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('digest', 'silence', 'spike')),
    period text,
    hours integer,
    factor integer,
    minimum integer,
    time_zone text NOT NULL,
    channel text NOT NULL CHECK (channel IN ('webhook', 'slack', 'email')),
    -- Encrypted.
    destination text NOT NULL,
    shown_destination text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    check_at bigint NOT NULL,
    incident_at bigint
  )`,
  `CREATE INDEX notification_of_project ON ${schema}.notification (organization_id, project_id)`,
  `CREATE INDEX notification_due ON ${schema}.notification (check_at)`,
  `CREATE TABLE ${schema}.notification_delivery (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    notification_id text COLLATE "C" NOT NULL REFERENCES ${schema}.notification (id) ON DELETE CASCADE,
    organization_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    occurrence text COLLATE "C" NOT NULL,
    message text NOT NULL,
    state text NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts integer NOT NULL,
    next_at bigint NOT NULL,
    created_at bigint NOT NULL,
    finished_at bigint,
    last_error text,
    UNIQUE (notification_id, occurrence)
  )`,
  `CREATE INDEX notification_delivery_of_project ON ${schema}.notification_delivery (organization_id, project_id, created_at)`,
  `CREATE INDEX notification_delivery_due ON ${schema}.notification_delivery (next_at) WHERE state = 'pending'`,
  `CREATE INDEX notification_delivery_finished ON ${schema}.notification_delivery (finished_at) WHERE state <> 'pending'`,
];

const findAccess = (schema: string): string => `
  CREATE FUNCTION ${schema}.find_access(
    asked_hash text, asked_project text,
    OUT schema_version integer, OUT found_key ${schema}.api_key, OUT found_project ${schema}.project
  ) LANGUAGE plpgsql STABLE AS $function$
  BEGIN
    SELECT version INTO schema_version FROM ${schema}.schema_version;
    SELECT * INTO found_key FROM ${schema}.api_key WHERE hash = asked_hash;
    SELECT * INTO found_project FROM ${schema}.project
      WHERE id = asked_project AND organization_id = found_key.organization_id AND deleted_at IS NULL;
  END
  $function$;
`;

export const sql = (schema: string): readonly string[] => [
  ...organizationsAndProjects(schema),
  ...queriesAndCounters(schema),
  ...membersAndAudit(schema),
  ...signIn(schema),
  ...notifications(schema),
  findAccess(schema),
];
