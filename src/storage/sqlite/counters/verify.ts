import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../../domain/counting/buckets.js';
import { countsForType } from '../../../domain/counting/counts.js';
import { planVerification } from '../../../domain/counting/verification.js';
import {
  type CounterDifference,
  inOrderOfBuckets,
  type Verification,
  verifyDifferencesMax,
} from '../../ports/store.js';
import type { Connection } from '../connection.js';
import { isDamage } from '../errors.js';

/** How many lines of damage are worth printing. */
const damageLinesMax = 20;

/** Recounts every counter from the rows, in one read transaction; see `Store.verify`. Takes seconds for 1e6 rows. */
export function verify(db: Connection): Verification {
  db.exec('BEGIN');
  try {
    const damage = findDamage(db);
    // Counts read from a damaged file would mean nothing, and reading them could fail half-way.
    return damage.length > 0 ? { damage, ...nothingRecounted } : { damage, ...recount(db) };
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}

const nothingRecounted = { projects: 0, queries: 0, differences: [], differencesTotal: 0 };

function findDamage(db: Connection): string[] {
  try {
    const lines = db.prepare(`PRAGMA integrity_check(${damageLinesMax})`).all();
    return lines.map((row) => String(row.integrity_check)).filter((line) => line !== 'ok');
  } catch (error) {
    // The check itself stumbles over some kinds of damage.
    if (isDamage(error)) return [(error as Error).message];
    throw error;
  }
}

function recount(db: Connection): Omit<Verification, 'damage'> {
  const { projects } = db.prepare('SELECT count(*) AS projects FROM project').get();
  const { queries } = db.prepare(`SELECT count(*) AS queries FROM query WHERE ${KEPT}`).get();
  const differences: CounterDifference[] = [];
  let differencesTotal = 0;
  for (const scope of scopesOf(db)) {
    for (const level of BUCKET_WIDTHS_MS.keys()) {
      for (const find of [differencesOf, differencesOfCallers]) {
        for (const row of find(db, level, scope)) {
          differencesTotal++;
          if (differences.length < verifyDifferencesMax) differences.push(row);
        }
      }
    }
  }
  return { projects, queries, differences: differences.sort(inOrderOfBuckets), differencesTotal };
}

/** Projects that are recounted together. */
interface Scope {
  /** Their condition on `project`. */
  readonly where: string;
  readonly rowsFrom: number | null;
}

/** Of what deleted projects left behind nothing is counted, and a part may be gone already. */
const KEPT = 'project NOT IN (SELECT number FROM deleted_project)';

/** All whose queries have their rows, together; the others one by one. */
function scopesOf(db: Connection): Scope[] {
  const partly = db
    .prepare('SELECT number, rows_from AS rowsFrom FROM project WHERE rows_from IS NOT NULL')
    .all();
  return [
    {
      where: `${KEPT} AND project NOT IN (SELECT number FROM project WHERE rows_from IS NOT NULL)`,
      rowsFrom: null,
    },
    ...partly.map(({ number, rowsFrom }) => ({ where: `project = ${number}`, rowsFrom })),
  ];
}

const PROJECT_ID = "coalesce((SELECT id FROM project WHERE number = project), '(none)')";

/** SQLite's division truncates towards zero; the remainder is made positive first, so that the quotient is floored. */
function floored(number: string, divisor: number): string {
  return `(${number} - ((${number} % ${divisor}) + ${divisor}) % ${divisor}) / ${divisor}`;
}

/**
 * Of the counters by type. The narrowest of a time without rows are held against those by caller, as far as these go:
 * all of type other.
 */
function* differencesOf(
  db: Connection,
  level: number,
  { where, rowsFrom }: Scope,
): Generator<CounterDifference> {
  const { firstBucket, fromMs, ratio, narrowerEnd } = planVerification(level, rowsFrom);
  const again =
    level > 0
      ? `SELECT project, ${floored('bucket', ratio)}, 0, 0, 0, web, api, other FROM type_counter
         WHERE level = ${level - 1} AND bucket < ${narrowerEnd} AND ${where}`
      : `SELECT project, bucket, 0, 0, 0, web, api, 0 FROM type_counter
         WHERE level = 0 AND bucket < ${firstBucket} AND ${where}
         UNION ALL
         SELECT project, bucket, 0, 0, 0, 0, 0, queries FROM caller_counter
         WHERE level = 0 AND bucket < ${firstBucket} AND ${where}`;
  // Both sides in one list and one sort; a full join of them would compare each with each.
  const statement = db.prepare(`
    SELECT
      ${PROJECT_ID}, bucket,
      sum(web), sum(api), sum(other), sum(web_again), sum(api_again), sum(other_again)
    FROM (
      SELECT project, bucket, web, api, other, 0 AS web_again, 0 AS api_again, 0 AS other_again
      FROM type_counter WHERE level = ${level} AND ${where}
      UNION ALL
      SELECT project, ${floored('occurred_at', bucketWidthMs(level))}, 0, 0, 0, caller = 0, caller = 1, caller > 1 FROM query
      WHERE occurred_at >= ${fromMs} AND ${where}
      UNION ALL
      ${again}
    )
    GROUP BY project, bucket
    HAVING sum(web) <> sum(web_again) OR sum(api) <> sum(api_again) OR sum(other) <> sum(other_again)
  `);
  statement.setReturnArrays(true);
  for (const [projectId, number, web, api, other, webAgain, apiAgain, otherAgain] of statement.iterate()) {
    yield {
      projectId,
      level,
      bucket: number,
      counted: { web, api, other },
      recounted: { web: webAgain, api: apiAgain, other: otherAgain },
    };
  }
}

/** Of the counters of each caller of type other. */
function* differencesOfCallers(
  db: Connection,
  level: number,
  { where, rowsFrom }: Scope,
): Generator<CounterDifference> {
  const { firstBucket, fromMs, ratio, narrowerEnd } = planVerification(level, rowsFrom);
  const statement = db.prepare(`
    SELECT ${PROJECT_ID}, bucket, coalesce((SELECT name FROM caller WHERE number = caller), '(none)'),
      sum(queries), sum(again)
    FROM (
      SELECT project, bucket, caller, queries, 0 AS again FROM caller_counter
      WHERE level = ${level} AND (level > 0 OR bucket >= ${firstBucket}) AND ${where}
      UNION ALL
      SELECT project, ${floored('occurred_at', bucketWidthMs(level))}, caller, 0, 1 FROM query
      WHERE caller > 1 AND occurred_at >= ${fromMs} AND ${where}
      UNION ALL
      SELECT project, ${floored('bucket', ratio)}, caller, 0, queries FROM caller_counter
      WHERE level = ${level - 1} AND bucket < ${narrowerEnd} AND ${where}
    )
    GROUP BY project, bucket, caller
    HAVING sum(queries) <> sum(again)
  `);
  statement.setReturnArrays(true);
  for (const [projectId, bucket, caller, counted, recounted] of statement.iterate()) {
    yield {
      projectId,
      level,
      bucket,
      caller,
      counted: countsForType('other', counted),
      recounted: countsForType('other', recounted),
    };
  }
}
