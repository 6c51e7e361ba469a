/** Everything that reads the file but verification. Runs on the main thread: each read takes microseconds. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { ApiKey } from '../../domain/api-key.js';
import { segmentsOf } from '../../domain/buckets.js';
import { type Counts, withTotal } from '../../domain/counts.js';
import type { DateRange } from '../../domain/date-range.js';
import type { Organization, Project } from '../../domain/project.js';
import type { Connection } from './connection.js';
import {
  KEY_COLUMNS,
  ORGANIZATION_COLUMNS,
  PROJECT_COLUMNS,
  toKey,
  toOrganization,
  toProject,
} from './rows.js';

export class Reader {
  readonly #db: Connection;
  readonly #listOrganizations: StatementSyncInstance;
  readonly #listProjects: StatementSyncInstance;
  readonly #findProject: StatementSyncInstance;
  readonly #projectNumber: StatementSyncInstance;
  readonly #listKeys: StatementSyncInstance;
  readonly #findKeyByHash: StatementSyncInstance;
  readonly #check: StatementSyncInstance;
  /** Statements that sum a number of segments, by that number. */
  readonly #sums: (StatementSyncInstance | undefined)[] = [];

  constructor(db: Connection) {
    this.#db = db;
    this.#listOrganizations = db.prepare(
      `SELECT ${ORGANIZATION_COLUMNS} FROM organization ORDER BY created_at, id`,
    );
    this.#listProjects = db.prepare(
      `SELECT ${PROJECT_COLUMNS} FROM project WHERE organization_id = ? ORDER BY created_at, id`,
    );
    this.#findProject = db.prepare(
      `SELECT ${PROJECT_COLUMNS} FROM project WHERE id = ? AND organization_id = ?`,
    );
    this.#projectNumber = db.prepare('SELECT number FROM project WHERE id = ?');
    this.#listKeys = db.prepare(
      `SELECT ${KEY_COLUMNS} FROM api_key WHERE organization_id = ? ORDER BY created_at, id`,
    );
    this.#findKeyByHash = db.prepare(`SELECT ${KEY_COLUMNS} FROM api_key WHERE hash = ?`);
    this.#check = db.prepare('SELECT count(*) FROM organization');
  }

  listOrganizations(): Organization[] {
    return this.#listOrganizations.all().map(toOrganization);
  }

  listProjects(organizationId: string): Project[] {
    return this.#listProjects.all(organizationId).map(toProject);
  }

  findProject(organizationId: string, projectId: string): Project | undefined {
    const row = this.#findProject.get(projectId, organizationId);
    return row === undefined ? undefined : toProject(row);
  }

  listKeys(organizationId: string): ApiKey[] {
    return this.#listKeys.all(organizationId).map(toKey);
  }

  findKeyByHash(hash: string): ApiKey | undefined {
    const row = this.#findKeyByHash.get(hash);
    return row === undefined ? undefined : toKey(row);
  }

  count(projectId: string, range: DateRange): Counts {
    const number = this.#projectNumber.get(projectId)?.number;
    const segments = segmentsOf(range);
    if (number === undefined || segments.length === 0) return withTotal({ web: 0, api: 0, other: 0 });
    const parameters = segments.flatMap(({ level, first, end }) => [level, first, end]);
    const [web, api, other] = this.#sumOf(segments.length).get(number, ...parameters);
    return withTotal({ web, api, other });
  }

  check(): void {
    this.#check.get();
  }

  /** All segments in one statement: one snapshot, and cheaper than a statement each. */
  #sumOf(segments: number): StatementSyncInstance {
    let statement = this.#sums[segments];
    if (statement === undefined) {
      const each = Array.from(
        { length: segments },
        (_, index) =>
          `SELECT web, api, other FROM counter WHERE project = ?1
             AND level = ?${index * 3 + 2} AND bucket >= ?${index * 3 + 3} AND bucket < ?${index * 3 + 4}`,
      );
      statement = this.#db.prepare(
        `SELECT coalesce(sum(web), 0), coalesce(sum(api), 0), coalesce(sum(other), 0) FROM (${each.join(' UNION ALL ')})`,
      );
      statement.setReturnArrays(true);
      this.#sums[segments] = statement;
    }
    return statement;
  }
}
