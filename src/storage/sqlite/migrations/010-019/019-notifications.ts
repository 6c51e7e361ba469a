/** Notifications of projects, and the deliveries of their messages. Released: never change it. */
export const SQL = `
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
