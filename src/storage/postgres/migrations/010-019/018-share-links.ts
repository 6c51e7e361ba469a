/**
 * Public links to the counts of one project. They stay on the coordinator, like keys, so they do not refer to projects.
 * Released: never change it.
 */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.share_link (
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
  );
`,
  `
  CREATE INDEX share_link_of_project ON ${schema}.share_link (project_id);
`,
];
