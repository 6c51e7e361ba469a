/**
 * Notifications of projects, and the deliveries of their messages. They are few, and stay on the coordinator of a cluster, so
 * they do not refer to the project. Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.notification (
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
  );
`,
  `
  CREATE INDEX notification_of_project ON ${schema}.notification (organization_id, project_id);
`,
  `
  CREATE INDEX notification_due ON ${schema}.notification (check_at);
`,
  `
  CREATE TABLE ${schema}.notification_delivery (
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
  );
`,
  `
  CREATE INDEX notification_delivery_of_project ON ${schema}.notification_delivery (organization_id, project_id, created_at);
`,
  `
  CREATE INDEX notification_delivery_due ON ${schema}.notification_delivery (next_at) WHERE state = 'pending';
`,
  `
  CREATE INDEX notification_delivery_finished ON ${schema}.notification_delivery (finished_at) WHERE state <> 'pending';
`,
];
