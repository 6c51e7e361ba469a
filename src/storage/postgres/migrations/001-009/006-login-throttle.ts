/** Counts of failed sign-ins, shared by all nodes. Citus keeps the table on the coordinator. Released: never change it. */
export const sql = (schema: string): readonly string[] => [
  `
  CREATE TABLE ${schema}.login_throttle (
    key text COLLATE "C" NOT NULL PRIMARY KEY,
    attempts integer NOT NULL,
    resets_at bigint NOT NULL
  );
`,
  `
  CREATE INDEX login_throttle_by_end ON ${schema}.login_throttle (resets_at);
  `,
];
