/**
 * What is needed to know the counts of an earlier day: `known_from` is the time of this upgrade, null for projects that are made
 * later, because of what was recorded before nobody knows when it arrived. Imported counts get the UTC day of their arrival, and
 * `withdrawn_count` has those that each correction has withdrawn, also after it was undone. Released: never change it.
 */
export const SQL = `
  ALTER TABLE project ADD COLUMN known_from INTEGER;
  UPDATE project SET known_from = (unixepoch() + 1) * 1000;

  ALTER TABLE imported_count ADD COLUMN day INTEGER;

  CREATE TABLE withdrawn_count (
    project INTEGER NOT NULL,
    source TEXT NOT NULL,
    caller INTEGER NOT NULL,
    start_at INTEGER NOT NULL,
    correction INTEGER NOT NULL,
    PRIMARY KEY (project, source, caller, start_at, correction)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO withdrawn_count (project, source, caller, start_at, correction)
  SELECT project, source, caller, start_at, withdrawn_by FROM imported_count WHERE withdrawn_by IS NOT NULL;
`;
