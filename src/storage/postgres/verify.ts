import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../domain/counting/buckets.js';
import { countsForType, mapTypes } from '../../domain/counting/counts.js';
import { planVerification } from '../../domain/counting/verification.js';
import type { CallerType } from '../../domain/queries/caller.js';
import {
  type CounterDifference,
  inOrderOfBuckets,
  type Verification,
  verifyDifferencesMax,
} from '../ports/maintenance.js';
import { toNumber } from '../sql/rows.js';
import type { Session } from './database.js';
import { isDamage } from './errors.js';
import type { Statements } from './statements.js';

/** The rows of the statements below. The driver returns `bigint` as a string. */
interface ProjectRow {
  readonly id: string;
  readonly rowsFrom?: string | null;
}

type TypeDifferenceRow = Readonly<Record<'bucket' | 'total' | CallerType | `${CallerType}Again`, string>>;

type CallerDifferenceRow = Readonly<
  Record<'bucket' | 'total' | 'caller' | 'queries' | 'queriesAgain', string>
>;

/** Recounts every counter from the rows, project by project, in one snapshot; see `Store.verify`. */
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
  const ids = await session.all<ProjectRow>(statements.listProjectIds);
  const strays = await session.all<ProjectRow>(statements.listStrayIds);
  const differences: CounterDifference[] = [];
  let differencesTotal = 0;
  let queries = 0;
  for (const { id, rowsFrom = null } of [...ids, ...strays]) {
    const counted = await session.get<{ readonly queries: string }>(statements.countQueries, [id]);
    queries += Number(counted?.queries);
    for (const level of BUCKET_WIDTHS_MS.keys()) {
      const { firstBucket, fromMs, ratio, narrowerEnd } = planVerification(level, toNumber(rowsFrom));
      const values = [id, level, bucketWidthMs(level), firstBucket, fromMs, ratio, narrowerEnd];
      for (const text of [statements.differences, statements.differencesOfCallers]) {
        const rows = await session.all<TypeDifferenceRow | CallerDifferenceRow>(text, values);
        differencesTotal += Number(rows[0]?.total ?? 0);
        differences.push(...rows.map((row) => toDifference(id, level, row)));
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

function toDifference(
  projectId: string,
  level: number,
  row: TypeDifferenceRow | CallerDifferenceRow,
): CounterDifference {
  const counter = { projectId, level, bucket: Number(row.bucket) };
  if ('caller' in row) {
    return {
      ...counter,
      caller: row.caller,
      counted: countsForType('other', Number(row.queries)),
      recounted: countsForType('other', Number(row.queriesAgain)),
    };
  }
  return {
    ...counter,
    counted: mapTypes((type) => Number(row[type])),
    recounted: mapTypes((type) => Number(row[`${type}Again`])),
  };
}
