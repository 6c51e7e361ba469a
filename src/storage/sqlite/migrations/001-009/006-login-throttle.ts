/** Counts of failed sign-ins, shared by all processes. Released: never change it. */
export const SQL = `
  CREATE TABLE login_throttle (
    key TEXT NOT NULL PRIMARY KEY,
    attempts INTEGER NOT NULL,
    resets_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX login_throttle_by_end ON login_throttle (resets_at);
  `;
