/** Counters per caller. Released: never change it. */

/** Computes each level from the one below it, which has fewer rows than there are queries. Rounds down, also before 1970. */
const WIDER_CALLER_COUNTERS = [10_000, 90, 12, 8, 32]
  .map(
    (times, at) => `
  INSERT INTO caller_counter (project, level, bucket, caller, queries)
    SELECT project, ${at + 1}, (bucket - ((bucket % ${times}) + ${times}) % ${times}) / ${times}, caller, sum(queries)
    FROM caller_counter WHERE level = ${at} GROUP BY 1, 3, 4 ORDER BY 1, 3, 4;`,
  )
  .join('');

/**
 * A process of an older version that still has the file open would go on counting by type alone. Renaming `counter` makes it
 * fail instead.
 */
export const SQL = `
  ALTER TABLE counter RENAME TO type_counter;

  CREATE TABLE caller_counter (
    project INTEGER NOT NULL,
    level INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    caller INTEGER NOT NULL,
    queries INTEGER NOT NULL,
    PRIMARY KEY (project, level, bucket, caller)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO caller_counter (project, level, bucket, caller, queries)
    SELECT project, 0, occurred_at, caller, count(*) FROM query WHERE caller > 1 GROUP BY 1, 3, 4 ORDER BY 1, 3, 4;
  ${WIDER_CALLER_COUNTERS}
  `;
