import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../../domain/counting/buckets.js';
import { planVerification } from '../../../domain/counting/verification.js';
import {
  type CounterDifference,
  damagedVerification,
  inOrderOfBuckets,
  type Verification,
  verifyDifferencesMax,
} from '../../ports/maintenance.js';
import { type DifferenceRow, toDifference } from '../../sql/differences.js';
import type { Connection } from '../connection.js';
import { isDamage } from '../errors.js';
import { countRows, prepare, prepareArrays } from '../statements.js';

const damageLinesMax = 20;

/** Recounts every counter in one read transaction; see `Maintenance.verify`. Takes seconds for a million queries. */
export function verify(db: Connection): Verification {
  db.exec('BEGIN');
  try {
    const damage = findDamage(db);
    // Counts from a damaged file mean nothing, and reading them could fail half-way.
    return damage.length > 0 ? damagedVerification(damage) : recount(db);
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}

function findDamage(db: Connection): string[] {
  try {
    const check = prepareArrays<readonly [string]>(db, `PRAGMA integrity_check(${damageLinesMax})`);
    return check.all().flatMap(([line]) => (line === 'ok' ? [] : [line]));
  } catch (error) {
    // Some kinds of damage make the check itself fail.
    if (isDamage(error)) return [(error as Error).message];
    throw error;
  }
}

function recount(db: Connection): Verification {
  const projects = countRows(db, 'project');
  const queries = countRows(db, `query WHERE caller >= 0 AND ${NOT_DELETED}`);
  const differences: CounterDifference[] = [];
  let differencesTotal = 0;
  for (const scope of listScopes(db)) {
    for (const difference of findDifferences(db, scope)) {
      differencesTotal++;
      if (differences.length < verifyDifferencesMax) differences.push(difference);
    }
  }
  return {
    projects,
    queries,
    importedQueries: sumImported(db),
    damage: [],
    differences: differences.sort(inOrderOfBuckets),
    differencesTotal,
  };
}

function* findDifferences(db: Connection, scope: Scope): Generator<CounterDifference> {
  /** The last level without differences. Comparing the next one with it takes less time than sorting all rows again. */
  const right = new Map([typeDifferencesSql, callerDifferencesSql].map((toSql) => [toSql, -1]));
  for (const level of BUCKET_WIDTHS_MS.keys()) {
    for (const [toSql, rightLevel] of right) {
      const plan = planVerification(level, scope.rowsFrom, rightLevel === level - 1);
      let isRight = true;
      const rows = prepare<DifferenceRow & { readonly projectId: string }>(db, toSql(level, scope, plan));
      for (const row of rows.iterate()) {
        isRight = false;
        yield toDifference(row.projectId, level, row);
      }
      if (isRight) right.set(toSql, level);
    }
  }
}

function sumImported(db: Connection): number {
  const sql = `SELECT coalesce(sum(queries), 0) AS queries FROM imported_count WHERE withdrawn_by IS NULL AND ${NOT_DELETED}`;
  return prepare<{ readonly queries: number }>(db, sql).get()?.queries ?? 0;
}

type Plan = ReturnType<typeof planVerification>;

/** Projects that are recounted together. */
interface Scope {
  /** A condition on `project`. */
  readonly where: string;
  readonly rowsFrom: number | null;
}

/** Rows of deleted projects are not counted, and some may be gone already. */
const NOT_DELETED = 'project NOT IN (SELECT number FROM deleted_project)';

/** Projects with all rows are recounted together, and those that retention has removed rows of one by one. */
function listScopes(db: Connection): Scope[] {
  const partial = prepare<{ readonly number: number; readonly rowsFrom: number }>(
    db,
    'SELECT number, rows_from AS rowsFrom FROM project WHERE rows_from IS NOT NULL',
  );
  return [
    {
      where: `${NOT_DELETED} AND project NOT IN (SELECT number FROM project WHERE rows_from IS NOT NULL)`,
      rowsFrom: null,
    },
    ...partial.all().map(({ number, rowsFrom }) => ({ where: `project = ${number}`, rowsFrom })),
  ];
}

const PROJECT_ID = "coalesce((SELECT id FROM project WHERE number = project), '(none)')";

/** Floored division. SQLite truncates towards zero, so the remainder is made positive first. */
function floorDivide(number: string, divisor: number): string {
  return `(${number} - ((${number} % ${divisor}) + ${divisor}) % ${divisor}) / ${divisor}`;
}

/** Compares counters by type. Without rows, the narrowest of type other are compared with those by caller. */
function typeDifferencesSql(level: number, { where }: Scope, plan: Plan): string {
  const { readsRows, firstBucket, fromMs, ratio, narrowerEnd } = plan;
  const again =
    level > 0
      ? `SELECT project, ${floorDivide('bucket', ratio)}, 0, 0, 0, web, api, other FROM caller_type_counter
         WHERE level = ${level - 1} AND bucket < ${narrowerEnd} AND ${where}`
      : `SELECT project, bucket, 0, 0, 0, web, api, 0 FROM caller_type_counter
         WHERE level = 0 AND bucket < ${firstBucket} AND ${where}
         UNION ALL
         SELECT project, bucket, 0, 0, 0, 0, 0, queries FROM caller_counter
         WHERE level = 0 AND bucket < ${firstBucket} AND ${where}`;
  // One sort of both sides; a full join would compare each row with each.
  return `
    SELECT ${PROJECT_ID} AS projectId, bucket, sum(web) AS web, sum(api) AS api, sum(other) AS other,
      sum(web_again) AS webAgain, sum(api_again) AS apiAgain, sum(other_again) AS otherAgain
    FROM (
      SELECT project, bucket, web, api, other, 0 AS web_again, 0 AS api_again, 0 AS other_again
      FROM caller_type_counter WHERE level = ${level} AND ${where}
      UNION ALL
      SELECT project, ${floorDivide('occurred_at', bucketWidthMs(level))}, 0, 0, 0, caller = 0, caller = 1, caller > 1 FROM query
      WHERE ${readsRows} AND occurred_at >= ${fromMs} AND ${where}
      UNION ALL
      SELECT project, ${floorDivide('start_at', bucketWidthMs(level))}, 0, 0, 0,
        (caller = 0) * queries, (caller = 1) * queries, (caller > 1) * queries FROM imported_count
      WHERE ${readsRows} AND start_at >= ${fromMs} AND withdrawn_by IS NULL AND ${where}
      UNION ALL
      ${again}
    )
    GROUP BY project, bucket
    HAVING sum(web) <> sum(web_again) OR sum(api) <> sum(api_again) OR sum(other) <> sum(other_again)`;
}

/** Compares counters by caller of type other. */
function callerDifferencesSql(level: number, { where }: Scope, plan: Plan): string {
  const { readsRows, firstBucket, fromMs, ratio, narrowerEnd } = plan;
  return `
    SELECT ${PROJECT_ID} AS projectId, bucket, coalesce((SELECT name FROM caller WHERE number = caller), '(none)') AS caller,
      0 AS web, 0 AS api, sum(queries) AS other, 0 AS webAgain, 0 AS apiAgain, sum(again) AS otherAgain
    FROM (
      SELECT project, bucket, caller, queries, 0 AS again FROM caller_counter
      WHERE level = ${level} AND (level > 0 OR bucket >= ${firstBucket}) AND ${where}
      UNION ALL
      SELECT project, ${floorDivide('occurred_at', bucketWidthMs(level))}, caller, 0, 1 FROM query
      WHERE ${readsRows} AND caller > 1 AND occurred_at >= ${fromMs} AND ${where}
      UNION ALL
      SELECT project, ${floorDivide('start_at', bucketWidthMs(level))}, caller, 0, queries FROM imported_count
      WHERE ${readsRows} AND caller > 1 AND start_at >= ${fromMs} AND withdrawn_by IS NULL AND ${where}
      UNION ALL
      SELECT project, ${floorDivide('bucket', ratio)}, caller, 0, queries FROM caller_counter
      WHERE level = ${level - 1} AND bucket < ${narrowerEnd} AND ${where}
    )
    GROUP BY project, bucket, caller
    HAVING sum(queries) <> sum(again)`;
}
