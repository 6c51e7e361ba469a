/** The store on PostgreSQL: any number of processes may work on the same database at once. */
import type { CallerCounts, Counts } from '../../domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../domain/counting/date-range.js';
import { CallerStatsError, isUnavailable } from '../../domain/errors.js';
import type { Query } from '../../domain/queries/query.js';
import type { CountStore, RecordResult } from '../ports/counts.js';
import type { Access, DirectoryChanges, DirectoryReads } from '../ports/directory.js';
import type { Cleanup, Maintenance, Verification } from '../ports/maintenance.js';
import type { Store } from '../ports/store.js';
import type { StorePart, StoreStats } from '../ports/store-stats.js';
import type { UserStatement, UserStatementResult, UserTables } from '../ports/user-tables.js';
import { REPEATABLE_CHANGES, SqlDirectoryChanges } from '../sql/directory-changes.js';
import { SqlDirectoryReads } from '../sql/directory-reads.js';
import { KEY, PROJECT } from '../sql/rows.js';
import { type Dialect, delegate, invoke } from '../sql/session.js';
import * as counting from './counters.js';
import { Database, type Row, type Session, withDatabaseDeadline } from './database.js';
import { dialectFor, sessionOver } from './dialect.js';
import { isConflict, rowsFromOf, unavailable } from './errors.js';
import type { PostgresLocation } from './location.js';
import { type PostgresOptions, SchemaReadiness } from './migrations/schema-readiness.js';
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
  return Object.assign(store, store.directoryReads(), store.directoryChanges());
}

/** All of the store but the directory's methods, which are made from the classes that implement them. */
class PostgresStore implements CountStore, Maintenance {
  readonly userTables: UserTables;
  readonly throttles: PostgresThrottles;
  readonly #options: PostgresOptions;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #dialect: Dialect;
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
    this.#dialect = dialectFor(location.schema);
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
    this.userTables = {
      dialect: 'postgres',
      schema: location.schema,
      run: (statement) => this.#runUserStatement(statement),
    };
  }

  directoryReads(): DirectoryReads {
    const query = async (text: string, values?: readonly unknown[]): Promise<Row[]> => {
      await this.#requireReady();
      return this.#database.read({ text }, values);
    };
    const run = async (): Promise<never> => {
      throw new Error('a read changes nothing');
    };
    const reads = new SqlDirectoryReads(sessionOver({ query, run }), this.#dialect);
    return delegate<DirectoryReads>(SqlDirectoryReads, (method, args) => invoke(reads, method, args));
  }

  directoryChanges(): DirectoryChanges {
    const query = async (): Promise<never> => {
      throw new Error('a repeatable change is one statement without rows');
    };
    const run = async (text: string, values: readonly unknown[] = []): Promise<number> => {
      await this.#requireReady();
      return (await this.#database.execute(text, values, { reads: false, repeatable: true })).changes;
    };
    const repeatable = new SqlDirectoryChanges(sessionOver({ query, run }), this.#dialect);
    return delegate<DirectoryChanges>(SqlDirectoryChanges, (method, args) =>
      REPEATABLE_CHANGES.includes(method)
        ? invoke(repeatable, method, args)
        : this.#transaction(async (session) =>
            invoke(new SqlDirectoryChanges(sessionOver(session), this.#dialect), method, args),
          ),
    );
  }

  async purgeDeleted(limit: number): Promise<Cleanup> {
    return this.#cleaner.purgeDeleted(limit);
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    return this.#cleaner.applyRetention(nowMs, limit);
  }

  async findAccess(keyHash: string, projectId: string): Promise<Access | undefined> {
    const [row] = await this.#read('findAccess', [keyHash, projectId]);
    // Each request begins here, so that a node whose schema was changed under it stops at once.
    this.schema.requireVersion(row?.['schemaVersion']);
    if (row === undefined || row['id'] === null) return undefined;
    return {
      key: KEY.read(row),
      project: row['foundId'] === null ? undefined : PROJECT.read(row, 'found'),
    };
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
    await this.#requireReady();
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
    await this.#requireReady();
    return this.#database.read({ name, text: this.#statements[name] }, values);
  }

  /** Runs a statement of the sign-in library, once if it writes. */
  async #runUserStatement({ sql, parameters }: UserStatement): Promise<UserStatementResult> {
    await this.#requireReady();
    try {
      return await this.#database.execute(sql, parameters, { reads: /^\s*select\b/i.test(sql) });
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new CallerStatsError('already_exists', 'There is such a row already.', { cause: error });
    }
  }

  /**
   * Runs a change in a transaction of its own. The changes of one handle run in the order of their calls, whatever
   * connection each gets.
   */
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

  async #requireReady(): Promise<void> {
    this.#requireOpen();
    await this.schema.ready();
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw unavailable('The store is closing.');
  }
}
