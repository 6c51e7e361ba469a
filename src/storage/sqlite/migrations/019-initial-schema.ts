/**
 * The schema of the first release. Released: never change it.
 *
 * - Rows and counters refer to projects and callers by small integers, to save space. `query.id` is the 16 bytes of a
 *   canonical UUID, or the text itself (see `query-id.ts`).
 * - `deleted_project` lists the projects whose queries and counters still have to be removed. Project numbers are never
 *   reused, so a new project with the same id is not affected.
 * - `type_counter` has a row per project, bucket level and non-empty bucket (see `domain/counting/buckets.ts`).
 *   `caller_counter` also has one per caller of type other.
 * - The `user_` tables have the form that the sign-in library requires: times as text, booleans as 0 and 1.
 */
const ORGANIZATIONS_AND_PROJECTS = `
  CREATE TABLE organization (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    second_factor TEXT NOT NULL DEFAULT 'optional' CHECK (second_factor IN ('optional', 'required'))
  ) STRICT, WITHOUT ROWID;

  INSERT INTO organization (id, name, created_at) VALUES ('default', 'Default', 0);

  CREATE TABLE project (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    time_zone TEXT,
    retention_days INTEGER,
    rows_from INTEGER,
    swept_to ANY,
    -- OpenTelemetry settings, as JSON.
    telemetry TEXT
  ) STRICT;

  CREATE TABLE deleted_project (
    number INTEGER PRIMARY KEY
  ) STRICT;

  CREATE TABLE api_key (
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

const QUERIES_AND_COUNTERS = `
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

  CREATE TABLE type_counter (
    project INTEGER NOT NULL,
    level INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    web INTEGER NOT NULL,
    api INTEGER NOT NULL,
    other INTEGER NOT NULL,
    PRIMARY KEY (project, level, bucket)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE caller_counter (
    project INTEGER NOT NULL,
    level INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    caller INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    PRIMARY KEY (project, level, bucket, caller)
  ) STRICT, WITHOUT ROWID;

  -- Counts from other systems, for history without queries.
  CREATE TABLE imported_count (
    project INTEGER NOT NULL,
    source TEXT NOT NULL,
    caller INTEGER NOT NULL,
    start_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    PRIMARY KEY (project, source, caller, start_at)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX imported_count_by_start ON imported_count (project, start_at);

  -- The keys by which the queries of OpenTelemetry are told apart.
  CREATE TABLE question_key (
    project INTEGER NOT NULL,
    name TEXT NOT NULL,
    query_id TEXT NOT NULL,
    is_taken INTEGER NOT NULL,
    service TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (project, name)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX question_key_by_end ON question_key (project, expires_at);

  -- What arrives, counted by source.
  CREATE TABLE ingestion_source (
    project INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    PRIMARY KEY (project, kind, name)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE ingestion_count (
    project INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    operation TEXT NOT NULL,
    requests INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    arrived INTEGER NOT NULL,
    recorded INTEGER NOT NULL,
    duplicates INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    unmatched INTEGER NOT NULL,
    PRIMARY KEY (project, bucket, kind, name, operation)
  ) STRICT, WITHOUT ROWID;
`;

const MEMBERS_AND_AUDIT = `
  CREATE TABLE member (
    organization_id TEXT NOT NULL REFERENCES organization (id),
    email TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (organization_id, email)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX member_by_email ON member (email);

  CREATE TABLE invitation (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id),
    email TEXT,
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    token_hash TEXT NOT NULL UNIQUE,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    UNIQUE (organization_id, email)
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
  CREATE INDEX audit_of_actor ON audit (organization_id, actor, number);
  CREATE INDEX audit_of_action ON audit (organization_id, action, number);
  CREATE INDEX audit_of_target ON audit (organization_id, target_id, number);

  CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is never changed');
  END;
`;

const SIGN_IN = `
  CREATE TABLE user_account (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    email_verified INTEGER NOT NULL,
    image TEXT,
    two_factor_enabled INTEGER,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE user_session (
    id TEXT NOT NULL PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    expires_at TEXT NOT NULL,
    ip_address TEXT,
    user_agent TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    -- Whether the provider of single sign-on checked a second factor.
    provider_factor INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX user_session_of_user ON user_session (user_id);

  CREATE TABLE user_credential (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    account_id TEXT NOT NULL,
    provider_id TEXT NOT NULL,
    access_token TEXT,
    refresh_token TEXT,
    id_token TEXT,
    access_token_expires_at TEXT,
    refresh_token_expires_at TEXT,
    scope TEXT,
    password TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (provider_id, account_id)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX user_credential_of_user ON user_credential (user_id);

  CREATE TABLE user_verification (
    id TEXT NOT NULL PRIMARY KEY,
    identifier TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    -- For trusted devices.
    ip_address TEXT,
    user_agent TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX user_verification_by_identifier ON user_verification (identifier);

  CREATE TABLE user_second_factor (
    id TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    secret TEXT NOT NULL,
    backup_codes TEXT NOT NULL,
    verified INTEGER,
    failed_verification_count INTEGER,
    locked_until TEXT,
    -- The time step of the last code that was accepted.
    last_step INTEGER NOT NULL DEFAULT 0,
    -- The hash function of the codes.
    algorithm TEXT NOT NULL DEFAULT 'SHA1' CHECK (algorithm IN ('SHA256', 'SHA1'))
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX user_second_factor_of_user ON user_second_factor (user_id);

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

  CREATE TABLE server_secret (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Counts of failed attempts, shared by all processes.
  CREATE TABLE login_throttle (
    key TEXT NOT NULL PRIMARY KEY,
    attempts INTEGER NOT NULL,
    resets_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX login_throttle_by_end ON login_throttle (resets_at);
`;

const NOTIFICATIONS = `
  CREATE TABLE notification (
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('digest', 'silence', 'spike')),
    period TEXT,
    hours INTEGER,
    factor INTEGER,
    minimum INTEGER,
    time_zone TEXT NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('webhook', 'slack', 'email')),
    -- Encrypted.
    destination TEXT NOT NULL,
    shown_destination TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    check_at INTEGER NOT NULL,
    incident_at INTEGER
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX notification_of_project ON notification (organization_id, project_id);
  CREATE INDEX notification_due ON notification (check_at);

  CREATE TABLE notification_delivery (
    id TEXT NOT NULL PRIMARY KEY,
    notification_id TEXT NOT NULL REFERENCES notification (id) ON DELETE CASCADE,
    organization_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    occurrence TEXT NOT NULL,
    message TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    last_error TEXT,
    UNIQUE (notification_id, occurrence)
  ) STRICT;

  CREATE INDEX notification_delivery_of_project ON notification_delivery (organization_id, project_id, created_at);
  CREATE INDEX notification_delivery_due ON notification_delivery (next_at) WHERE state = 'pending';
  CREATE INDEX notification_delivery_finished ON notification_delivery (finished_at) WHERE state <> 'pending';
`;

export const SQL =
  ORGANIZATIONS_AND_PROJECTS + QUERIES_AND_COUNTERS + MEMBERS_AND_AUDIT + SIGN_IN + NOTIFICATIONS;
