import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../domain/counting/buckets.js';
import { countsForType, mapTypes } from '../../domain/counting/counts.js';
import { planVerification } from '../../domain/counting/verification.js';
import {
  type CounterDifference,
  inOrderOfBuckets,
  type Verification,
  verifyDifferencesMax,
} from '../ports/maintenance.js';
import { toNumber } from '../sql/rows.js';
import type { Row, Session } from './database.js';
import { isDamage } from './errors.js';
import type { Statements } from './statements.js';

/**
 * Recounts every counter from the rows, a project after the other, in one snapshot; see `Store.verify`. Every
 * statement but the two lists of projects reads one project's rows.
 */
export async function verify(session: Session, statements: Statements): Promise<Verification> {
  try {
    return await session.transaction(
      () => recount(session, statements),
      'ISOLATION LEVEL REPEATABLE READ, READ ONLY',
    );
  } catch (error) {
    if (!isDamage(error)) throw error;
    return {
      projects: 0,
      queries: 0,
      damage: [(error as Error).message],
      differences: [],
      differencesTotal: 0,
    };
  }
}

async function recount(session: Session, statements: Statements): Promise<Verification> {
  const ids = await session.query(statements.listProjectIds);
  const strays = await session.query(statements.listStrayIds);
  const differences: CounterDifference[] = [];
  let differencesTotal = 0;
  let queries = 0;
  for (const { id, rowsFrom = null } of [...ids, ...strays]) {
    const [counted] = await session.query(statements.countQueries, [id]);
    queries += Number(counted?.['queries']);
    for (const level of BUCKET_WIDTHS_MS.keys()) {
      const { firstBucket, fromMs, ratio, narrowerEnd } = planVerification(level, toNumber(rowsFrom));
      const values = [id, level, bucketWidthMs(level), firstBucket, fromMs, ratio, narrowerEnd];
      for (const text of [statements.differences, statements.differencesOfCallers]) {
        const rows = await session.query(text, values);
        differencesTotal += Number(rows[0]?.['total'] ?? 0);
        differences.push(...rows.map((row) => toDifference(String(id), level, row)));
        differences.splice(verifyDifferencesMax);
      }
    }
  }
  return {
    projects: ids.length,
    queries,
    damage: [],
    differences: differences.sort(inOrderOfBuckets),
    differencesTotal,
  };
}

function toDifference(projectId: string, level: number, row: Row): CounterDifference {
  const counter = { projectId, level, bucket: Number(row['bucket']) };
  if (row['caller'] !== undefined) {
    return {
      ...counter,
      caller: String(row['caller']),
      counted: countsForType('other', Number(row['queries'])),
      recounted: countsForType('other', Number(row['queriesAgain'])),
    };
  }
  return {
    ...counter,
    counted: mapTypes((type) => Number(row[type])),
    recounted: mapTypes((type) => Number(row[`${type}Again`])),
  };
}
