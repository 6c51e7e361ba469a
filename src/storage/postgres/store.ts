/** The store on PostgreSQL: any number of processes may work on the same database at once. */
import type { CallerCounts, Counts } from '../../domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../domain/counting/date-range.js';
import { isUnavailable } from '../../domain/errors.js';
import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Actor, AuditEntry, AuditFilter } from '../../domain/people/audit.js';
import type { Member, Role } from '../../domain/people/member.js';
import type { NewProject, Organization, Project, ProjectChange } from '../../domain/projects/project.js';
import type { Query } from '../../domain/queries/query.js';
import type { Access, Cleanup, KeyChange, RecordResult, Store, Verification } from '../ports/store.js';
import type { StorePart, StoreStats } from '../ports/store-stats.js';
import { toAuditEntry, toKey, toMember, toOrganization, toProject } from '../sql/rows.js';
import * as counting from './counters.js';
import { Database, type Row, type Session, withDatabaseDeadline } from './database.js';
import { rowsFromOf, unavailable } from './errors.js';
import type { PostgresLocation } from './location.js';
import { auditValues, Management } from './management.js';
import { type PostgresOptions, SchemaReadiness } from './migrations/schema-readiness.js';
import { PostgresPeople } from './people.js';
import { Cleaner } from './purge.js';
import { bytesOf, toQuery } from './query-id.js';
import { type RecordAnswer, type RecordCall, Recorder, valuesOf } from './recorder.js';
import { type StatementName, type Statements, statementsIn } from './statements.js';
import { readStats } from './store-stats.js';
import { PostgresThrottles } from './throttles.js';
import { verify } from './verify.js';

/** Opens the store, made where there is none yet, and brings its schema up to date. */
export async function openPostgresStore(
  location: PostgresLocation,
  options: PostgresOptions,
): Promise<Store> {
  const store = new PostgresStore(location, options);
  try {
    await store.schema.ready();
  } catch (error) {
    if (!(isUnavailable(error) && options.allowUnavailable)) {
      await store.close();
      throw error;
    }
  }
  return store;
}

class PostgresStore implements Store {
  readonly people: PostgresPeople;
  readonly throttles: PostgresThrottles;
  readonly #options: PostgresOptions;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #recorder: Recorder;
  readonly #cleaner: Cleaner;
  readonly schema: SchemaReadiness;
  readonly #readCounters: counting.Read = (name, values) => this.#read(name, values);
  /** The last of the changes that are made in turn. */
  #turn: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(location: PostgresLocation, options: PostgresOptions) {
    this.#options = options;
    this.#database = new Database(location, options);
    this.#statements = statementsIn(location.schema);
    this.schema = new SchemaReadiness(this.#database, location, options);
    this.#recorder = new Recorder((call) => this.#callRecord(call), options.commits);
    this.#cleaner = new Cleaner({
      statements: this.#statements,
      read: (name) => this.#read(name),
      transaction: (work) => this.#database.transaction(work),
    });
    this.throttles = new PostgresThrottles({
      statements: this.#statements,
      transaction: (work) => this.#transaction(work),
    });
    this.people = new PostgresPeople({
      schema: location.schema,
      statements: this.#statements,
      read: (name, values) => this.#read(name, values),
      change: (work) => this.#transaction(work),
      execute: async (...statement) => {
        this.#requireOpen();
        await this.schema.ready();
        return this.#database.execute(...statement);
      },
    });
  }

  async createOrganization(organization: Organization, by: Actor): Promise<void> {
    await this.#change((changes) => changes.createOrganization(organization, by));
  }

  async listOrganizations(): Promise<Organization[]> {
    return (await this.#read('listOrganizations')).map(toOrganization);
  }

  async createProject(project: NewProject, by: Actor): Promise<void> {
    await this.#change((changes) => changes.createProject(project, by));
  }

  async changeProject(
    organizationId: string,
    projectId: string,
    change: ProjectChange,
    by: Actor,
  ): Promise<Project> {
    return this.#change((changes) => changes.changeProject(organizationId, projectId, change, by));
  }

  async deleteProject(organizationId: string, projectId: string, by: Actor): Promise<void> {
    await this.#change((changes) => changes.deleteProject(organizationId, projectId, by));
  }

  async purgeDeleted(limit: number): Promise<Cleanup> {
    return this.#cleaner.purgeDeleted(limit);
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    return this.#cleaner.applyRetention(nowMs, limit);
  }

  async listProjects(organizationId: string): Promise<Project[]> {
    return (await this.#read('listProjects', [organizationId])).map((row) => toProject(row));
  }

  async findProject(organizationId: string, projectId: string): Promise<Project | undefined> {
    const [row] = await this.#read('findProject', [projectId, organizationId]);
    return row === undefined ? undefined : toProject(row);
  }

  async createKey(key: ApiKey, by: Actor): Promise<void> {
    await this.#change((changes) => changes.createKey(key, by));
  }

  async listKeys(organizationId: string): Promise<ApiKey[]> {
    return (await this.#read('listKeys', [organizationId])).map(toKey);
  }

  async findAccess(keyHash: string, projectId: string): Promise<Access | undefined> {
    const [row] = await this.#read('findAccess', [keyHash, projectId]);
    // Each request begins here, so that a node whose schema was changed under it stops at once.
    this.schema.requireVersion(row?.['schemaVersion']);
    if (row === undefined || row['id'] === null) return undefined;
    return { key: toKey(row), project: row['foundId'] === null ? undefined : toProject(row, 'found') };
  }

  async changeKey(organizationId: string, keyId: string, change: KeyChange, by: Actor): Promise<ApiKey> {
    return this.#change((changes) => changes.changeKey(organizationId, keyId, change, by));
  }

  async rotateKey(
    organizationId: string,
    keyId: string,
    successor: ApiKey,
    expiresAt: number,
    by: Actor,
  ): Promise<void> {
    await this.#change((changes) => changes.rotateKey(organizationId, keyId, successor, expiresAt, by));
  }

  async revokeLeakedKey(keyHash: string, by: Actor): Promise<boolean> {
    return this.#change((changes) => changes.revokeLeakedKey(keyHash, by));
  }

  async touchKey(keyId: string, usedAt: number): Promise<void> {
    await this.#write('touchKey', [keyId, usedAt], { repeatable: true });
  }

  async addMember(member: Member, by: Actor): Promise<void> {
    await this.#change((changes) => changes.addMember(member, by));
  }

  async listMembers(organizationId: string): Promise<Member[]> {
    return (await this.#read('listMembers', [organizationId])).map(toMember);
  }

  async changeMember(organizationId: string, email: string, role: Role, by: Actor): Promise<void> {
    await this.#change((changes) => changes.changeMember(organizationId, email, role, by));
  }

  async removeMember(organizationId: string, email: string, by: Actor): Promise<void> {
    await this.#change((changes) => changes.removeMember(organizationId, email, by));
  }

  /** Without a name, so that it is planned with the filter at hand: each has an index of its own. */
  async readAudit(organizationId: string, filter: AuditFilter): Promise<AuditEntry[]> {
    this.#requireOpen();
    await this.schema.ready();
    const statement = { text: this.#statements.readAudit };
    return (await this.#database.read(statement, auditValues(organizationId, filter))).map(toAuditEntry);
  }

  async pruneAudit(before: number): Promise<number> {
    const [row] = await this.#write('pruneAudit', [before], { repeatable: true });
    return Number(row?.['entries']);
  }

  async record(projectId: string, queries: readonly Query[]): Promise<RecordResult> {
    this.#requireOpen();
    const { timeoutMs } = this.#options;
    return withDatabaseDeadline(timeoutMs, (signal) => this.#recorder.record(projectId, { queries, signal }));
  }

  async count(projectId: string, range: DateRange): Promise<Counts> {
    return counting.count(this.#readCounters, projectId, range);
  }

  async countSeries(projectId: string, bounds: readonly number[]): Promise<Counts[]> {
    return counting.countSeries(this.#readCounters, projectId, bounds);
  }

  async countCallers(projectId: string, range: DateRange): Promise<CallerCounts> {
    return counting.countCallers(this.#readCounters, projectId, range);
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    return counting.findExtent(this.#readCounters, projectId);
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<Query[]> {
    return (await this.#read('readQueries', [projectId, bytesOf(afterId), limit])).map(toQuery);
  }

  async verify(): Promise<Verification> {
    this.#requireOpen();
    await this.schema.ready();
    return this.#database.session((session) => verify(session, this.#statements));
  }

  async check(part?: StorePart): Promise<void> {
    this.#requireOpen();
    if (part === 'database') await this.#database.read({ text: 'SELECT 1' });
    if (part === undefined || part === 'schema') await this.schema.check();
    // Of a project that is not there: to look for one that is would ask every server of a cluster.
    if (part === undefined || part === 'counts') await this.count('', ALL_TIME);
  }

  stats(): Promise<StoreStats> {
    return readStats(this.#database, this.#statements, this.#recorder.pending);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // What was accepted is finished first; each part of it has its deadline.
    await Promise.all([this.#recorder.close(), this.#turn]);
    this.schema.giveUp();
    await this.#database.close();
  }

  async #read(name: StatementName, values: readonly unknown[] = []): Promise<Row[]> {
    this.#requireOpen();
    await this.schema.ready();
    return this.#database.read({ name, text: this.#statements[name] }, values);
  }

  async #write(
    name: StatementName,
    values: readonly unknown[],
    options: { repeatable: boolean },
  ): Promise<Row[]> {
    this.#requireOpen();
    await this.schema.ready();
    return this.#database.write({ name, text: this.#statements[name] }, values, options);
  }

  /**
   * Makes a change in a transaction of its own. Those of one handle are made in the order in which they were asked
   * for, whatever connection each gets.
   */
  #change<T>(change: (changes: Management) => Promise<T>): Promise<T> {
    return this.#transaction((session) => change(new Management(session, this.#statements)));
  }

  async #transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#requireOpen();
    const done = this.#turn.then(async () => {
      await this.schema.ready();
      return this.#database.transaction(work);
    });
    this.#turn = done.catch(() => {});
    return withDatabaseDeadline(this.#options.timeoutMs, () => done);
  }

  /** Without a name, so that it is planned with its project at hand: Citus then sends it whole to the server of it. */
  async #callRecord(call: RecordCall): Promise<RecordAnswer> {
    await this.schema.ready();
    const statement = { text: this.#statements.record };
    try {
      const [row] = await this.#database.write(statement, valuesOf(call), { repeatable: true });
      return row?.['duplicates'] as number[] | null;
    } catch (error) {
      const rowsFrom = rowsFromOf(error);
      if (rowsFrom === undefined) throw error;
      return { rowsFrom };
    }
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw unavailable('The store is closing.');
  }
}
