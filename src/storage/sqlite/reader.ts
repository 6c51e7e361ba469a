/** Everything that reads the file but verification. Runs on the main thread: each read takes microseconds. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { ALL_TIME } from '../../domain/counting/date-range.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { AuditEntry, AuditFilter } from '../../domain/people/audit.js';
import type { Member } from '../../domain/people/member.js';
import type { Organization, Project } from '../../domain/projects/project.js';
import type { Query } from '../../domain/queries/query.js';
import type { Access } from '../ports/store.js';
import type { StorePart } from '../ports/store-stats.js';
import {
  AUDIT_COLUMNS,
  keyColumns,
  MEMBER_COLUMNS,
  ORGANIZATION_COLUMNS,
  projectColumns,
  toAuditEntry,
  toKey,
  toMember,
  toOrganization,
  toProject,
} from '../sql/rows.js';
import type { Connection } from './connection.js';
import { CounterReader } from './counters/counter-reader.js';
import { ReadSnapshot } from './counters/read-snapshot.js';
import { VersionedCache } from './counters/versioned-cache.js';
import { requireNewest } from './migrations/migrate.js';
import { decodeQueryId, encodeQueryId } from './query-id.js';
import { projectToClean, RETENTIONS } from './writer/purge.js';

/** More than there are keys and projects in use. */
const accessesMax = 10_000;

export class Reader {
  /** What the counters say. */
  readonly counters: CounterReader;
  /** Holds what is read together to one moment. */
  readonly snapshot: ReadSnapshot;
  readonly #db: Connection;
  readonly #listOrganizations: StatementSyncInstance;
  readonly #listProjects: StatementSyncInstance;
  readonly #findProject: StatementSyncInstance;
  readonly #listKeys: StatementSyncInstance;
  readonly #findAccess: StatementSyncInstance;
  readonly #readQueries: StatementSyncInstance;
  readonly #listMembers: StatementSyncInstance;
  readonly #hasDeleted: StatementSyncInstance;
  readonly #retentions: StatementSyncInstance;
  readonly #firstProject: StatementSyncInstance;
  /** That there is none is kept, too, and takes the same time. */
  readonly #accesses: VersionedCache<Access | undefined>;

  constructor(db: Connection) {
    this.#db = db;
    this.snapshot = new ReadSnapshot(db);
    this.counters = new CounterReader(db, this.snapshot);
    this.#listOrganizations = db.prepare(
      `SELECT ${ORGANIZATION_COLUMNS} FROM organization ORDER BY created_at, id`,
    );
    this.#listProjects = db.prepare(
      `SELECT ${projectColumns('project')} FROM project WHERE organization_id = ? ORDER BY created_at, id`,
    );
    this.#findProject = db.prepare(
      `SELECT ${projectColumns('project')} FROM project WHERE id = ? AND organization_id = ?`,
    );
    this.#listKeys = db.prepare(
      `SELECT ${keyColumns('api_key')} FROM api_key WHERE organization_id = ? ORDER BY created_at, id`,
    );
    this.#findAccess = db.prepare(
      `SELECT ${keyColumns('api_key')}, ${projectColumns('project', 'found')}
       FROM api_key LEFT JOIN project ON project.id = ?2 AND project.organization_id = api_key.organization_id
       WHERE api_key.hash = ?1`,
    );
    this.#listMembers = db.prepare(
      `SELECT ${MEMBER_COLUMNS} FROM member WHERE organization_id = ? ORDER BY created_at, email`,
    );
    this.#retentions = db.prepare(RETENTIONS);
    this.#hasDeleted = db.prepare('SELECT 1 FROM deleted_project LIMIT 1');
    // Texts sort before blobs, so '' is before every id.
    this.#readQueries = db.prepare(
      `SELECT query.id, caller.name AS caller, occurred_at AS occurredAt
       FROM query JOIN caller ON caller.number = query.caller
       WHERE project = (SELECT number FROM project WHERE id = ?) AND query.id > ? ORDER BY query.id LIMIT ?`,
    );
    this.#accesses = new VersionedCache(this.snapshot, accessesMax);
    this.#firstProject = db.prepare('SELECT id FROM project ORDER BY number LIMIT 1');
  }

  listOrganizations(): Organization[] {
    return this.#listOrganizations.all().map(toOrganization);
  }

  listProjects(organizationId: string): Project[] {
    return this.#listProjects.all(organizationId).map((row) => toProject(row));
  }

  findProject(organizationId: string, projectId: string): Project | undefined {
    const row = this.#findProject.get(projectId, organizationId);
    return row === undefined ? undefined : toProject(row);
  }

  listKeys(organizationId: string): ApiKey[] {
    return this.#listKeys.all(organizationId).map(toKey);
  }

  listMembers(organizationId: string): Member[] {
    return this.#listMembers.all(organizationId).map(toMember);
  }

  /** A statement for what is asked for, so that the index that fits it is used. */
  readAudit(organizationId: string, filter: AuditFilter): AuditEntry[] {
    const { from, to, before, actor, action, targetId, limit } = filter;
    const conditions: readonly (readonly [condition: string, value: string | number | undefined])[] = [
      ['organization_id = ?', organizationId],
      ['actor = ?', actor],
      ['action = ?', action],
      ['target_id = ?', targetId],
      ['number < ?', before],
      ['at >= ?', from],
      ['at < ?', to],
    ];
    const asked = conditions.filter(([, value]) => value !== undefined);
    return this.#db
      .prepare(
        `SELECT ${AUDIT_COLUMNS} FROM audit WHERE ${asked.map(([condition]) => condition).join(' AND ')}
         ORDER BY number DESC LIMIT ?`,
      )
      .all(...asked.map(([, value]) => value), limit)
      .map(toAuditEntry);
  }

  hasRetentionToApply(nowMs: number): boolean {
    return projectToClean(this.#retentions.all(), nowMs) !== undefined;
  }

  hasDeleted(): boolean {
    return this.#hasDeleted.get() !== undefined;
  }

  findAccess(keyHash: string, projectId: string): Access | undefined {
    return this.#accesses.get(`${keyHash} ${projectId}`, () => {
      const row = this.#findAccess.get(keyHash, projectId);
      if (row === undefined) return undefined;
      return { key: toKey(row), project: row.foundId === null ? undefined : toProject(row, 'found') };
    });
  }

  readQueries(projectId: string, afterId: string | undefined, limit: number): Query[] {
    const after = afterId === undefined ? '' : encodeQueryId(afterId);
    return this.#readQueries.all(projectId, after, limit).map(({ id, caller, occurredAt }) => ({
      id: decodeQueryId(id),
      caller: String(caller),
      occurredAt: Number(occurredAt),
    }));
  }

  /** See `Store.check`. */
  check(part: StorePart): void {
    if (part === 'schema') requireNewest(this.#db);
    else if (part === 'database') this.#firstProject.get();
    // Where there is no project yet, of one that is not there: it is the same statement.
    else this.counters.countUncached(String(this.#firstProject.get()?.id ?? ''), ALL_TIME);
  }
}
