/** Project time zones and retention, deleted projects, indexes of the audit log. Released: never change it. */
export const SQL = `
  ALTER TABLE project ADD COLUMN time_zone TEXT;
  ALTER TABLE project ADD COLUMN retention_days INTEGER;
  ALTER TABLE project ADD COLUMN rows_from INTEGER;
  ALTER TABLE project ADD COLUMN swept_to ANY;

  CREATE TABLE deleted_project (
    number INTEGER PRIMARY KEY
  ) STRICT;

  CREATE INDEX audit_of_actor ON audit (organization_id, actor, number);
  CREATE INDEX audit_of_action ON audit (organization_id, action, number);
  CREATE INDEX audit_of_target ON audit (organization_id, target_id, number);
  `;
