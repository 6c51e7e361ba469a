/** Finds the counters of a project that differ from a recount. Sorts all its queries: see `agreement.ts` for whether there are any. */
import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../../domain/counting/buckets.js';
import { planVerification } from '../../../domain/counting/verification.js';
import type { CounterDifference } from '../../ports/maintenance.js';
import { type DifferenceRow, toDifference } from '../../sql/differences.js';
import type { Connection } from '../connection.js';
import { prepare } from '../statements.js';
import { readMoments } from './moments.js';

/** A project, and from when on it has all its rows: retention has removed earlier ones. */
export interface Scope {
  readonly project: number;
  /** Null if every query has its row. */
  readonly rowsFrom: number | null;
}

type Plan = ReturnType<typeof planVerification>;

/** Prepares a connection, once, for finding the differences of projects. */
export function prepareDifferences(db: Connection): (scope: Scope) => Generator<CounterDifference> {
  db.function('moments', (level: number, bucket: number, queries: Uint8Array) => {
    const moments: [timeMs: number, caller: number][] = [];
    readMoments(level, bucket, queries, (...moment) => moments.push(moment));
    return JSON.stringify(moments);
  });
  return (scope) => findDifferences(db, scope);
}

function* findDifferences(db: Connection, { project, rowsFrom }: Scope): Generator<CounterDifference> {
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

/** The counters of a level by type, and the queries that they do not include, both as `SELECT project, bucket, web, api, other`. */
function typesAt(level: number, where: string): string {
  const counters = `SELECT project, bucket, web, api, other FROM query_counter WHERE level = ${level} AND ${where}`;
  return `${counters} UNION ALL
    SELECT project, bucket, caller = 0, caller = 1, caller > 1 FROM (${keptAt(level, where)})`;
}

/** The same by caller, as `SELECT project, bucket, caller, queries`. */
function callersAt(level: number, where: string): string {
  const counters = `SELECT project, bucket, caller, queries FROM caller_counter WHERE level = ${level} AND ${where}`;
  return `${counters} UNION ALL
    SELECT project, bucket, caller, 1 FROM (${keptAt(level, where)}) WHERE caller > 1`;
}

function keptAt(level: number, where: string): string {
  return `SELECT project, ${floorDivide('(value ->> 0)', bucketWidthMs(level))} AS bucket, value ->> 1 AS caller
    FROM moment, json_each(moments(level, bucket, queries)) WHERE level > ${level} AND ${where}`;
}

/** Compares counters by type. Without rows, the narrowest of type other are compared with those by caller. */
function typeDifferencesSql(level: number, project: number, plan: Plan): string {
  const where = `project = ${project}`;
  const { readsRows, firstBucket, fromMs, ratio, narrowerEnd } = plan;
  const again =
    level > 0
      ? `SELECT project, ${floorDivide('bucket', ratio)}, 0, 0, 0, web, api, other FROM (${typesAt(level - 1, where)}) WHERE bucket < ${narrowerEnd}`
      : `SELECT project, bucket, 0, 0, 0, web, api, 0 FROM (${typesAt(0, where)}) WHERE bucket < ${firstBucket}
         UNION ALL
         SELECT project, bucket, 0, 0, 0, 0, 0, queries FROM (${callersAt(0, where)}) WHERE bucket < ${firstBucket}`;
  // One sort of both sides; a full join would compare each row with each.
  return `
    SELECT ${PROJECT_ID} AS projectId, bucket, sum(web) AS web, sum(api) AS api, sum(other) AS other,
      sum(web_again) AS webAgain, sum(api_again) AS apiAgain, sum(other_again) AS otherAgain
    FROM (
      SELECT project, bucket, web, api, other, 0 AS web_again, 0 AS api_again, 0 AS other_again
      FROM (${typesAt(level, where)})
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
      SELECT project, bucket, caller, queries, 0 AS again FROM (${callersAt(level, where)})
      WHERE ${level} > 0 OR bucket >= ${firstBucket}
      UNION ALL
      SELECT project, ${floorDivide('occurred_at', bucketWidthMs(level))}, caller, 0, 1 FROM query
      WHERE ${readsRows} AND caller > 1 AND occurred_at >= ${fromMs} AND ${where}
      UNION ALL
      SELECT project, ${floorDivide('start_at', bucketWidthMs(level))}, caller, 0, queries FROM imported_count
      WHERE ${readsRows} AND caller > 1 AND start_at >= ${fromMs} AND withdrawn_by IS NULL AND ${where}
      UNION ALL
      SELECT project, ${floorDivide('bucket', ratio)}, caller, 0, queries FROM (${callersAt(Math.max(level - 1, 0), where)}) WHERE bucket < ${narrowerEnd}
    )
    GROUP BY project, bucket, caller
    HAVING sum(queries) <> sum(again)`;
}
