/** What arrives, counted by source. Released: never change it. */
export const sql = (schema: string): string => `
  CREATE TABLE ${schema}.ingestion_source (
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    seen_at bigint NOT NULL,
    PRIMARY KEY (project_id, kind, name)
  );

  CREATE TABLE ${schema}.ingestion_count (
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
  );
  `;
