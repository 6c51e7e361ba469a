/**
 * How queries arrived: on which UTC day, and by whom. Each query has the number of a receipt of its project; null for those
 * that were recorded before this version. Numbers only ascend. Released: never change it.
 */
export const SQL = `
  CREATE TABLE receipt (
    project INTEGER NOT NULL,
    number INTEGER NOT NULL,
    day INTEGER NOT NULL,
    sender TEXT NOT NULL,
    PRIMARY KEY (project, number)
  ) STRICT, WITHOUT ROWID;

  CREATE INDEX receipt_by_sender ON receipt (project, day, sender, number);

  ALTER TABLE query ADD COLUMN receipt INTEGER;
`;
