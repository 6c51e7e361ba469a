/** The keys by which the questions of OpenTelemetry are told apart. Released: never change it. */
export const SQL = `
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
  `;
