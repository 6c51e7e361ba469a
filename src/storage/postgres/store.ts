/** The store on PostgreSQL: any number of processes may work on the same database at once. */
import type { ApiKey } from '../../domain/api-key.js';
import type { Actor, AuditEntry, AuditFilter } from '../../domain/audit.js';
import type { CallerCounts, Counts } from '../../domain/counts.js';
import { type DateRange, EARLIEST_MS, LATEST_MS } from '../../domain/date-range.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { Member, Role } from '../../domain/member.js';
import type { Organization, Project } from '../../domain/project.js';
import type { Query } from '../../domain/query.js';
import { toAuditEntry, toKey, toMember, toOrganization, toProject } from '../rows.js';
import type { Access, KeyChange, RecordResult, Store, Verification } from '../store.js';
import * as counting from './counting.js';
import { Database, type DatabaseOptions, type Row, withDeadline } from './database.js';
import { diagnose, unavailable } from './errors.js';
import type { PostgresLocation } from './location.js';
import { Management } from './management.js';
import { migrate, NEWEST_VERSION, otherVersion } from './migrations.js';
import { encodeQueryId, toQuery } from './query-id.js';
import { type RecordCall, Recorder } from './recorder.js';
import { type StatementName, type Statements, statementsIn } from './statements.js';
import { verify } from './verify.js';

export interface PostgresOptions extends DatabaseOptions {
  /** Refuses (`not_found`) where there is no schema yet, instead of making one. */
  readonly mustExist?: boolean;
  /**
   * Gives a store even where the database cannot be used now. Its methods answer `unavailable` until it can, each call
   * finding out anew.
   */
  readonly mayBeAway?: boolean;
}

/** Opens the store, made where there is none yet, and brings its schema up to date. */
export async function openPostgresStore(
  location: PostgresLocation,
  options: PostgresOptions,
): Promise<Store> {
  const store = new PostgresStore(location, options);
  try {
    await store.prepare();
  } catch (error) {
    const away = error instanceof CallerStatsError && error.code === 'unavailable';
    if (!(away && options.mayBeAway)) {
      await store.close();
      throw error;
    }
  }
  return store;
}

class PostgresStore implements Store {
  readonly #location: PostgresLocation;
  readonly #options: PostgresOptions;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #recorder: Recorder;
  readonly #readCounters: counting.Read = (name, values) => this.#read(name, values);
  /** Whether the schema is known to be the one that this program works with. */
  #prepared = false;
  /** Whether it ever was: a schema that is gone since then is being restored, and not for us to make anew. */
  #wasPrepared = false;
  #preparing: Promise<void> | undefined;
  /** Ends `#preparing`, which may have to wait long for another node. */
  readonly #unprepared = new AbortController();
  /** The last of the changes that are made in turn. */
  #turn: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(location: PostgresLocation, options: PostgresOptions) {
    this.#location = location;
    this.#options = options;
    this.#database = new Database(location, options);
    this.#statements = statementsIn(location.schema);
    this.#recorder = new Recorder((call) => this.#callRecord(call));
  }

  /** Brings the schema up to date, where that is not done yet; after a failure the next call tries again. */
  async prepare(): Promise<void> {
    if (this.#prepared) return;
    this.#preparing ??= this.#migrate().finally(() => {
      this.#preparing = undefined;
    });
    const preparing = this.#preparing;
    await withDeadline(this.#options.timeoutMs, () => preparing);
  }

  async createOrganization(organization: Organization, by: Actor): Promise<void> {
    await this.#change((changes) => changes.createOrganization(organization, by));
  }

  async listOrganizations(): Promise<Organization[]> {
    return (await this.#read('listOrganizations')).map(toOrganization);
  }

  async createProject(project: Project, by: Actor): Promise<void> {
    await this.#change((changes) => changes.createProject(project, by));
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
    this.#requireVersion(row);
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

  async readAudit(organizationId: string, { from, to, before, limit }: AuditFilter): Promise<AuditEntry[]> {
    const bounds = [before ?? Number.MAX_SAFE_INTEGER, from ?? EARLIEST_MS, to ?? LATEST_MS];
    return (await this.#read('readAudit', [organizationId, ...bounds, limit])).map(toAuditEntry);
  }

  async pruneAudit(before: number): Promise<number> {
    const [row] = await this.#write('pruneAudit', [before], { repeatable: true });
    return Number(row?.['entries']);
  }

  async record(projectId: string, queries: readonly Query[]): Promise<RecordResult> {
    this.#requireOpen();
    return withDeadline(this.#options.timeoutMs, (signal) =>
      this.#recorder.record(projectId, { queries, signal }),
    );
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
    const after = Buffer.from(afterId === undefined ? '' : encodeQueryId(afterId), 'hex');
    return (await this.#read('readQueries', [projectId, after, limit])).map(toQuery);
  }

  async verify(): Promise<Verification> {
    this.#requireOpen();
    await this.prepare();
    return this.#database.session((session) => verify(session, this.#statements));
  }

  async check(): Promise<void> {
    const [row] = await this.#read('version');
    this.#requireVersion(row === undefined ? undefined : { schemaVersion: row['version'] });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // What was accepted is finished first; each part of it has its deadline.
    await Promise.all([this.#recorder.close(), this.#turn]);
    this.#unprepared.abort();
    await this.#database.close();
  }

  async #migrate(): Promise<void> {
    const create = !(this.#options.mustExist || this.#wasPrepared);
    try {
      // Asked first as any read is: a session has no deadline, and could wait for ever at a connection that is dead.
      if (!(await this.#isNewest())) {
        await this.#database.session(
          (session) => migrate(session, this.#location, create),
          this.#unprepared.signal,
        );
      }
    } catch (error) {
      const gone = this.#wasPrepared && error instanceof CallerStatsError && error.code === 'not_found';
      throw gone ? unavailable('The database cannot be used now: its tables are gone.', error) : error;
    }
    this.#prepared = true;
    this.#wasPrepared = true;
  }

  async #isNewest(): Promise<boolean> {
    try {
      const [row] = await this.#database.read({ text: this.#statements.version });
      return row?.['version'] === NEWEST_VERSION;
    } catch (error) {
      if (error instanceof CallerStatsError && diagnose(error.cause).otherSchema) return false;
      throw error;
    }
  }

  async #read(name: StatementName, values: readonly unknown[] = []): Promise<Row[]> {
    this.#requireOpen();
    await this.prepare();
    return this.#database.read({ name, text: this.#statements[name] }, values);
  }

  async #write(
    name: StatementName,
    values: readonly unknown[],
    options: { repeatable: boolean },
  ): Promise<Row[]> {
    this.#requireOpen();
    await this.prepare();
    return this.#database.write({ name, text: this.#statements[name] }, values, options);
  }

  /**
   * Makes a change in a transaction of its own. Those of one handle are made in the order in which they were asked
   * for, whatever connection each gets.
   */
  async #change<T>(change: (changes: Management) => Promise<T>): Promise<T> {
    this.#requireOpen();
    const done = this.#turn.then(async () => {
      await this.prepare();
      return this.#database.transaction((session) => change(new Management(session, this.#statements)));
    });
    this.#turn = done.catch(() => {});
    return withDeadline(this.#options.timeoutMs, () => done);
  }

  /** Without a name, so that it is planned with its project at hand: Citus then sends it whole to the server of it. */
  async #callRecord({ projectId, ids, times, callers }: RecordCall): Promise<readonly number[] | null> {
    await this.prepare();
    const values = [projectId, ids, times, callers];
    const [row] = await this.#database.write({ text: this.#statements.record }, values, { repeatable: true });
    return row?.['duplicates'] as number[] | null;
  }

  #requireVersion(row: Row | undefined): void {
    const version = row?.['schemaVersion'];
    if (version === NEWEST_VERSION) return;
    this.#prepared = false;
    throw otherVersion(typeof version === 'number' ? version : null, this.#location.name);
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw unavailable('The store is closing.');
  }
}
