/** The keys by which the questions of OpenTelemetry are told apart. Released: never change it. */
export const sql = (schema: string): string => `
  CREATE TABLE ${schema}.question_key (
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    query_id text NOT NULL,
    is_taken smallint NOT NULL,
    service text NOT NULL,
    expires_at bigint NOT NULL,
    PRIMARY KEY (project_id, name)
  );

  CREATE INDEX question_key_by_end ON ${schema}.question_key (project_id, expires_at);
  `;
