import { BUCKET_WIDTHS_MS, bucketWidthMs } from '../../domain/counting/buckets.js';
import { planVerification } from '../../domain/counting/verification.js';
import type { Project } from '../../domain/projects/project.js';
import {
  type CounterDifference,
  damagedVerification,
  inOrderOfBuckets,
  type Verification,
  verifyDifferencesMax,
} from '../ports/maintenance.js';
import { type DifferenceRow, toDifference } from '../sql/differences.js';
import { type Session, SNAPSHOT } from './connection/database.js';
import { isDamage } from './connection/errors.js';
import { widestRowLevel } from './statements/shared.js';
import type { Statements } from './statements/statements.js';

/** Recounts every counter from the rows, project by project, in one snapshot; see `Maintenance.verify`. */
export async function verify(session: Session, statements: Statements): Promise<Verification> {
  try {
    const counted = await session.transaction(() => recount(session, statements), SNAPSHOT);
    const wrongCopies = await findWrongCopies(session, statements);
    return wrongCopies.length === 0 ? counted : { ...counted, wrongCopies };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return damagedVerification([(error as Error).message]);
  }
}

/** See `project-copy.ts`. A change in progress may seem to be a difference, so that is looked at again when there is none. */
async function findWrongCopies(session: Session, statements: Statements): Promise<readonly string[]> {
  if ((await session.all(statements.findCopy)).length === 0) return [];
  const compare = async () => {
    const read = async (text: string) =>
      new Map((await session.all<CopiedRow>(text)).map(({ id, row }) => [id, row]));
    const [projects, copies] = [await read(statements.readProjects), await read(statements.readCopies)];
    const ids = new Set([...projects.keys(), ...copies.keys()]);
    return [...ids].filter((id) => projects.get(id) !== copies.get(id)).toSorted();
  };
  if ((await compare()).length === 0) return [];
  return session.transaction(async () => {
    await session.run(statements.holdProjects);
    return compare();
  });
}

interface CopiedRow {
  readonly id: string;
  readonly row: string;
}

async function recount(session: Session, statements: Statements): Promise<Verification> {
  const projects = await session.all<Pick<Project, 'id' | 'rowsFrom'>>(statements.listProjectIds);
  const strays = await session.all<Pick<Project, 'id'>>(statements.listStrayIds);
  const differences: CounterDifference[] = [];
  let differencesTotal = 0;
  let queries = 0;
  let importedQueries = 0;
  const sum = async (text: string, id: string) =>
    (await session.get<{ readonly queries: number }>(text, [id]))?.queries ?? 0;
  for (const { id, rowsFrom } of [...projects, ...strays.map((stray) => ({ ...stray, rowsFrom: null }))]) {
    queries += await sum(statements.countQueries, id);
    importedQueries += await sum(statements.sumImportedCounts, id);
    /** The last level without differences. Comparing the next one with it takes less time than reading all rows again. */
    const right = new Map(
      [statements.differences, statements.differencesOfCallers].map((text) => [text, -1]),
    );
    for (const level of BUCKET_WIDTHS_MS.keys()) {
      for (const [text, rightLevel] of right) {
        // Narrower counters than this level do not include all rows.
        const isNarrowerRight = level > widestRowLevel && rightLevel === level - 1;
        const plan = planVerification(level, rowsFrom, isNarrowerRight);
        const { firstBucket, fromMs, ratio, narrowerEnd, readsRows } = plan;
        const values = [id, level, bucketWidthMs(level), firstBucket, fromMs, ratio, narrowerEnd, readsRows];
        const rows = await session.all<DifferenceRow & { readonly total: number }>(text, values);
        if (rows.length === 0) right.set(text, level);
        differencesTotal += rows[0]?.total ?? 0;
        differences.push(...rows.map((row) => toDifference(id, level, row)));
        differences.splice(verifyDifferencesMax);
      }
    }
  }
  return {
    projects: projects.length,
    queries,
    importedQueries,
    damage: [],
    differences: differences.sort(inOrderOfBuckets),
    differencesTotal,
  };
}
