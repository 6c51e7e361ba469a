/** Finds the counters of a project that differ from a recount. Sorts all its queries: see `agreement.ts` for whether there are any. */
import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../../domain/counting/buckets.js';
import { planVerification } from '../../../domain/counting/verification.js';
import type { CounterDifference } from '../../ports/maintenance.js';
import { type DifferenceRow, toDifference } from '../../sql/differences.js';
import type { Connection } from '../connection.js';
import { prepare } from '../statements.js';

/** A project, and from when on it has all its rows: retention has removed earlier ones. */
export interface Scope {
  readonly project: number;
  /** Null if every query has its row. */
  readonly rowsFrom: number | null;
}

type Plan = ReturnType<typeof planVerification>;

export function* findDifferences(db: Connection, { project, rowsFrom }: Scope): Generator<CounterDifference> {
  /** The last level without differences. Comparing the next one with it takes less time than sorting all rows again. */
  const right = new Map([typeDifferencesSql, callerDifferencesSql].map((toSql) => [toSql, -1]));
  for (const level of BUCKET_WIDTHS_MS.keys()) {
    for (const [toSql, rightLevel] of right) {
      const plan = planVerification(level, rowsFrom, rightLevel === level - 1);
      let isRight = true;
      const rows = prepare<DifferenceRow & { readonly projectId: string }>(db, toSql(level, project, plan));
      for (const row of rows.iterate()) {
        isRight = false;
        yield toDifference(row.projectId, level, row);
      }
      if (isRight) right.set(toSql, level);
    }
  }
}

const PROJECT_ID = "coalesce((SELECT id FROM project WHERE number = project), '(none)')";

/** Floored division. SQLite truncates towards zero, so the remainder is made positive first. */
function floorDivide(number: string, divisor: number): string {
  return `(${number} - ((${number} % ${divisor}) + ${divisor}) % ${divisor}) / ${divisor}`;
}

/** Compares counters by type. Without rows, the narrowest of type other are compared with those by caller. */
function typeDifferencesSql(level: number, project: number, plan: Plan): string {
  const where = `project = ${project}`;
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
function callerDifferencesSql(level: number, project: number, plan: Plan): string {
  const where = `project = ${project}`;
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
