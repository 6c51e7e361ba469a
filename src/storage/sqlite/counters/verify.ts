import {
  type CounterDifference,
  damagedVerification,
  inOrderOfBuckets,
  type Verification,
  verifyDifferencesMax,
} from '../../ports/maintenance.js';
import type { Connection } from '../connection.js';
import { isDamage } from '../errors.js';
import { countRows, prepare, prepareArrays } from '../statements.js';
import { prepareAgreement } from './agreement.js';
import { prepareDifferences, type Scope } from './differences.js';

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
  const agrees = prepareAgreement(db);
  const findDifferences = prepareDifferences(db);
  for (const scope of listScopes(db)) {
    if (agrees(scope)) continue;
    for (const difference of findDifferences(scope)) {
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

function sumImported(db: Connection): number {
  const sql = `SELECT coalesce(sum(queries), 0) AS queries FROM imported_count WHERE withdrawn_by IS NULL AND ${NOT_DELETED}`;
  return prepare<{ readonly queries: number }>(db, sql).get()?.queries ?? 0;
}

/** Rows of deleted projects are not counted, and some may be gone already. */
const NOT_DELETED = 'project NOT IN (SELECT number FROM deleted_project)';

/** All projects of which there are rows or counters, also those that do not exist. */
function listScopes(db: Connection): Scope[] {
  // One look-up for each. DISTINCT would read the whole index.
  const projectsIn = (table: string) => `
    SELECT project FROM (
      WITH RECURSIVE next (project) AS (
        SELECT min(project) FROM ${table}
        UNION ALL
        SELECT (SELECT min(project) FROM ${table} WHERE ${table}.project > next.project) FROM next WHERE project IS NOT NULL
      )
      SELECT project FROM next WHERE project IS NOT NULL
    )`;
  const found = ['query', 'imported_count', 'query_counter', 'caller_counter', 'moment'].map(projectsIn);
  return prepare<Scope>(
    db,
    `SELECT project, rows_from AS rowsFrom FROM (${found.join(' UNION ')})
     LEFT JOIN project ON number = project WHERE ${NOT_DELETED}`,
  ).all();
}
