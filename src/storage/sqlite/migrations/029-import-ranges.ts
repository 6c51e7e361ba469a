/** When what each import brought occurred, by the UTC day on which it arrived. Released: never change it. */
export const SQL = `
  CREATE TABLE import_range (
    project INTEGER NOT NULL,
    day INTEGER NOT NULL,
    sender TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    PRIMARY KEY (project, day, sender)
  ) STRICT, WITHOUT ROWID;
`;
