/**
 * The time before which a project refuses queries, null for none; and kinds and channels of notifications that only the program
 * checks, so that a new one needs no migration. Released: never change it.
 */
const notification = `
    id TEXT NOT NULL PRIMARY KEY,
    organization_id TEXT NOT NULL REFERENCES organization (id) ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    period TEXT,
    hours INTEGER,
    factor INTEGER,
    minimum INTEGER,
    time_zone TEXT NOT NULL,
    channel TEXT NOT NULL,
    -- Encrypted.
    destination TEXT NOT NULL,
    shown_destination TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    check_at INTEGER NOT NULL,
    incident_at INTEGER`;

export const SQL = `
  ALTER TABLE project ADD COLUMN earliest_at INTEGER;

  -- SQLite cannot drop a check. Both tables are replaced, because dropping one would delete the rows that refer to it.
  CREATE TABLE new_notification (${notification}
  ) STRICT, WITHOUT ROWID;
  INSERT INTO new_notification SELECT id, organization_id, project_id, kind, period, hours, factor, minimum, time_zone, channel,
    destination, shown_destination, created_by, created_at, check_at, incident_at FROM notification;

  CREATE TABLE new_notification_delivery (
    id TEXT NOT NULL PRIMARY KEY,
    notification_id TEXT NOT NULL REFERENCES new_notification (id) ON DELETE CASCADE,
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
  INSERT INTO new_notification_delivery SELECT id, notification_id, organization_id, project_id, occurrence, message, state,
    attempts, next_at, created_at, finished_at, last_error FROM notification_delivery;

  DROP TABLE notification_delivery;
  DROP TABLE notification;
  ALTER TABLE new_notification RENAME TO notification;
  ALTER TABLE new_notification_delivery RENAME TO notification_delivery;

  CREATE INDEX notification_of_project ON notification (organization_id, project_id);
  CREATE INDEX notification_due ON notification (check_at);
  CREATE INDEX notification_delivery_of_project ON notification_delivery (organization_id, project_id, created_at);
  CREATE INDEX notification_delivery_due ON notification_delivery (next_at) WHERE state = 'pending';
  CREATE INDEX notification_delivery_finished ON notification_delivery (finished_at) WHERE state <> 'pending';
`;
