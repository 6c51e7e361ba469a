/** The store on PostgreSQL. Any number of processes may use the same database at once. */
import { type Segment, splitIntoBuckets } from '../../domain/counting/buckets.js';
import {
  type CallerCounts,
  type Counts,
  countsOfType,
  sumByType,
  type TypeCounts,
  toCallerCounts,
  withTotal,
  zeroCounts,
} from '../../domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../domain/counting/date-range.js';
import {
  type Conflict,
  type CutSpan,
  conflictError,
  distinctCounts,
  type ImportedCount,
} from '../../domain/counting/imported-count.js';
import {
  combinerFor,
  combineSeriesCounts,
  splitSeriesIntoBuckets,
} from '../../domain/counting/series-segments.js';
import { CallerStatsError, isUnavailable } from '../../domain/errors.js';
import { importedSpanDaysMax } from '../../domain/limits.js';
import { callerType } from '../../domain/queries/caller.js';
import type { Query } from '../../domain/queries/query.js';
import { dayMs } from '../../domain/time/duration.js';
import { SharedCalls } from '../../shared/shared-calls.js';
import type { ComparedCallerCounts, CountStore, RecordResult, SeriesByCaller } from '../ports/counts.js';
import type { Access, DirectoryChanges, DirectoryReads } from '../ports/directory.js';
import type { Ingestion } from '../ports/ingestion.js';
import type { Cleanup, Maintenance, Verification } from '../ports/maintenance.js';
import type { Notifications } from '../ports/notifications.js';
import type { Questions } from '../ports/questions.js';
import type { Store } from '../ports/store.js';
import { type ServerState, type StorePart, type StoreStats, statsTimeoutMs } from '../ports/store-stats.js';
import type { Throttles } from '../ports/throttles.js';
import type { UserStatement, UserStatementResult, UserTables } from '../ports/user-tables.js';
import { RecordingCheck } from '../recording-check.js';
import { REPEATABLE_CHANGES, SqlDirectoryChanges } from '../sql/directory-changes.js';
import { SqlDirectoryReads } from '../sql/directory-reads.js';
import { INGESTION_READS, SqlIngestion } from '../sql/ingestion.js';
import { NOTIFICATION_READS, SqlNotifications } from '../sql/notifications.js';
import { SqlQuestions } from '../sql/questions.js';
import { KEY, PROJECT } from '../sql/rows.js';
import { type Dialect, delegate, invoke, type Row, type Session as SqlSession } from '../sql/session.js';
import { SqlThrottles } from '../sql/throttles.js';
import { HAS_CITUS, probeServers, requireAnyServer, type ShardServer } from './cluster.js';
import { Database, type Session, withDatabaseDeadline } from './database.js';
import { dialectFor } from './dialect.js';
import { cannotWrite, isConflict, rowsFromOf, unavailable } from './errors.js';
import type { PostgresLocation } from './location.js';
import { type PostgresOptions, SchemaReadiness } from './migrations/schema-readiness.js';
import { Cleaner } from './purge.js';
import { bytesOf, decodeQueryId } from './query-id.js';
import { type RecordAnswer, type RecordCall, Recorder } from './recorder.js';
import { type StatementName, type Statements, statementsIn } from './statements.js';
import { verify } from './verify.js';

/** Opens the store, creates it if it does not exist, and migrates its schema. */
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
  return Object.assign(store, store.directory());
}

/** What `import_counts` and `checkCounts` return; null if there is no such project. */
interface ImportOutcome {
  readonly recorded: number;
  readonly conflicts: readonly (Conflict['present'] & { readonly index: number })[] | null;
}

/** Implements the store except the directory's methods, which `delegate` adds. */
class PostgresStore implements CountStore, Maintenance {
  readonly userTables: UserTables;
  readonly throttles: Throttles = delegate<Throttles>(SqlThrottles, (method, args) =>
    this.#transaction(async (session) => invoke(new SqlThrottles(session, this.#dialect), method, args)),
  );
  readonly questions: Questions = delegate<Questions>(SqlQuestions, (method, args) =>
    this.#unordered(async (session) => invoke(new SqlQuestions(session, this.#dialect), method, args)),
  );
  readonly ingestion: Ingestion = delegate<Ingestion>(SqlIngestion, (method, args) =>
    INGESTION_READS.includes(method)
      ? invoke(new SqlIngestion(this.#repeatable, this.#dialect), method, args)
      : this.#unordered(async (session) => invoke(new SqlIngestion(session, this.#dialect), method, args)),
  );
  readonly notifications: Notifications = delegate<Notifications>(SqlNotifications, (method, args) =>
    NOTIFICATION_READS.includes(method)
      ? invoke(new SqlNotifications(this.#repeatable, this.#dialect), method, args)
      : this.#unordered(async (session) =>
          invoke(new SqlNotifications(session, this.#dialect), method, args),
        ),
  );
  readonly #options: PostgresOptions;
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #dialect: Dialect;
  readonly #recorder: Recorder;
  readonly #recordingCheck = new RecordingCheck(this.throttles);
  readonly #cleaner: Cleaner;
  readonly #accesses = new SharedCalls<Access | undefined>();
  /** Runs reads and repeatable changes, each of which is one statement. */
  readonly #repeatable: SqlSession = {
    all: async <R>(text: string, values?: readonly unknown[]) => {
      await this.#requireReady();
      return this.#database.read<R>({ text }, values);
    },
    run: async (text, values = []) => {
      await this.#requireReady();
      return (await this.#database.write({ text }, values, { repeatable: true })).changes;
    },
  };
  readonly schema: SchemaReadiness;
  /** The last change. Each waits for the one before it. */
  #turn: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | undefined;

  constructor(location: PostgresLocation, options: PostgresOptions) {
    this.#options = options;
    this.#database = new Database(location, options);
    this.#statements = statementsIn(location.schema);
    this.#dialect = dialectFor(location.schema);
    this.schema = new SchemaReadiness(this.#database, location, options);
    this.#recorder = new Recorder(
      (call) => this.#callRecord(call),
      // Other errors may concern a connection, or one server of a cluster.
      this.#recordingCheck.observe(options.commits, cannotWrite),
    );
    this.#cleaner = new Cleaner(this.#database, this.#statements);
    this.userTables = {
      dialect: 'postgres',
      schema: location.schema,
      run: (statement) => this.#runUserStatement(statement),
    };
  }

  directory(): DirectoryReads & DirectoryChanges {
    const reads = new SqlDirectoryReads(this.#repeatable, this.#dialect);
    const repeatable = new SqlDirectoryChanges(this.#repeatable, this.#dialect);
    return {
      ...delegate<DirectoryReads>(SqlDirectoryReads, (method, args) => invoke(reads, method, args)),
      ...delegate<DirectoryChanges>(SqlDirectoryChanges, (method, args) =>
        REPEATABLE_CHANGES.includes(method)
          ? invoke(repeatable, method, args)
          : this.#transaction(async (own) =>
              invoke(new SqlDirectoryChanges(own, this.#dialect), method, args),
            ),
      ),
    };
  }

  async purgeDeleted(limit: number): Promise<Cleanup> {
    await this.#requireReady();
    return this.#cleaner.purgeDeleted(limit);
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    await this.#requireReady();
    return this.#cleaner.applyRetention(nowMs, limit);
  }

  /** Many requests of a busy key arrive together, and on Citus each look-up asks another server. */
  findAccess(keyHash: string, projectId: string): Promise<Access | undefined> {
    return this.#accesses.ask(`${keyHash} ${projectId}`, () => this.#findAccess(keyHash, projectId));
  }

  async #findAccess(keyHash: string, projectId: string): Promise<Access | undefined> {
    const [row] = await this.#read('findAccess', [keyHash, projectId]);
    // Every request with a key does this, so a node stops as soon as another one has changed the schema.
    this.schema.requireVersion(row?.['schemaVersion']);
    if (row === undefined || row['id'] === null) return undefined;
    return {
      key: KEY.read(row),
      project: row['foundId'] === null ? undefined : PROJECT.read(row, 'found'),
    };
  }

  readonly importBatchQueries = undefined;

  async record(projectId: string, queries: readonly Query[]): Promise<RecordResult> {
    this.#requireOpen();
    const { timeoutMs } = this.#options;
    return withDatabaseDeadline(timeoutMs, (signal) => this.#recorder.record(projectId, { queries, signal }));
  }

  async count(projectId: string, range: DateRange, caller?: string): Promise<Counts> {
    if (caller !== undefined) {
      const [counts] = await this.countSeries(projectId, [range.from, range.to], caller);
      return counts ?? withTotal(zeroCounts());
    }
    const values = [projectId, ...toColumns(splitIntoBuckets(range))];
    const [sums] = await this.#read<TypeCounts>('count', values);
    if (sums === undefined) throw new Error('Invariant violated: a sum is one row.');
    return withTotal(sums);
  }

  async countSeries(
    projectId: string,
    bounds: readonly number[],
    caller?: string,
  ): Promise<readonly Counts[]> {
    if (caller !== undefined) {
      const type = callerType(caller);
      if (type !== 'other') {
        return (await this.countSeries(projectId, bounds)).map((counts) => countsOfType(type, counts[type]));
      }
      const [numbers = []] = (await this.#countByCaller(projectId, bounds, [caller], false)).callers;
      return numbers.map((number) => countsOfType(type, number));
    }
    const segments = splitSeriesIntoBuckets(bounds);
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments)];
    const rows = await this.#read<TypeCounts & { readonly sum: number }>('countSeries', values);
    return combineSeriesCounts(bounds, new Map(rows.map((row) => [row.sum, row])));
  }

  countSeriesByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
  ): Promise<SeriesByCaller> {
    return this.#countByCaller(projectId, bounds, callers, true);
  }

  /** Without `withTypes`, `all` is zero, and so are the callers `web` and `api`. */
  async #countByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
    withTypes: boolean,
  ): Promise<SeriesByCaller> {
    type Sum = TypeCounts & { readonly sum: number; readonly caller: string | null };
    const segments = splitSeriesIntoBuckets(bounds);
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments), callers, withTypes];
    const rows = await this.#read<Sum>('countSeriesByCaller', values);
    const sumsOf = (caller: string | null): Map<number, TypeCounts> =>
      new Map(rows.filter((row) => row.caller === caller).map((row) => [row.sum, row]));
    const all = combineSeriesCounts(bounds, sumsOf(null));
    const combine = combinerFor(bounds);
    return {
      all,
      callers: callers.map((caller) => {
        const type = callerType(caller);
        if (type !== 'other') return all.map((counts) => counts[type]);
        const sums = sumsOf(caller);
        return combine((index) => sums.get(index)?.other ?? 0);
      }),
    };
  }

  async countCallers(
    projectId: string,
    range: DateRange,
    compared?: DateRange,
  ): Promise<ComparedCallerCounts> {
    type Counted = { readonly sum: number; readonly caller: string; readonly queries: number | null };
    const segments = [range, ...(compared === undefined ? [] : [compared])].flatMap((one, sum) =>
      splitIntoBuckets(one).map((segment) => ({ ...segment, sum })),
    );
    const values = [projectId, segments.map(({ sum }) => sum), ...toColumns(segments)];
    const rows = await this.#read<Counted>('countCallers', values);
    const countsOf = (index: number): CallerCounts =>
      // A type without counters has the sum null.
      toCallerCounts(
        rows.filter(({ sum }) => sum === index).map(({ caller, queries }) => [caller, queries ?? 0]),
      );
    return compared === undefined
      ? countsOf(0)
      : { ...countsOf(0), inCompared: sumByType(countsOf(1).callers) };
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    type Extent = { readonly first: number | null; readonly last: number };
    const [row] = await this.#read<Extent>('findExtent', [projectId]);
    return row === undefined || row.first === null ? undefined : { from: row.first, to: row.last + 1 };
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<Query[]> {
    const values = [projectId, bytesOf(afterId), limit];
    const rows = await this.#read<Omit<Query, 'id'> & { readonly id: Buffer }>('readQueries', values);
    return rows.map((row) => ({ ...row, id: decodeQueryId(row.id) }));
  }

  async importCounts(
    projectId: string,
    counts: readonly ImportedCount[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<RecordResult> {
    await this.#requireReady();
    const distinct = distinctCounts(counts);
    const columns = (['source', 'caller', 'start', 'end', 'count'] as const).map((field) =>
      distinct.map((one) => one[field]),
    );
    const outcome = dryRun
      ? await this.#checkCounts([projectId, ...columns])
      : await this.#callImport([projectId, ...columns]);
    if (outcome === null) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    if (outcome.conflicts === null)
      return { recorded: outcome.recorded, duplicates: counts.length - outcome.recorded };
    throw conflictError(
      outcome.conflicts.flatMap(({ index, ...present }): Conflict[] => {
        const sent = distinct[index];
        return sent === undefined ? [] : [{ sent, present }];
      }),
    );
  }

  async readImportedCounts(
    projectId: string,
    after: ImportedCount | undefined,
    limit: number,
  ): Promise<ImportedCount[]> {
    const { source = '', caller = '', start = Number.MIN_SAFE_INTEGER } = after ?? {};
    return this.#read('readImportedCounts', [projectId, source, caller, start, limit]);
  }

  async findCutSpan(projectId: string, timeMs: number): Promise<CutSpan | undefined> {
    type Found = { readonly [Field in keyof CutSpan]: number | null };
    const values = [projectId, timeMs, timeMs - importedSpanDaysMax * dayMs];
    const [row] = await this.#read<Found>('findCutSpan', values);
    return row === undefined || row.start === null ? undefined : (row as CutSpan);
  }

  async verify(): Promise<Verification> {
    await this.#requireReady();
    return this.#database.session((session) => verify(session, this.#statements));
  }

  async check(part?: StorePart): Promise<void> {
    this.#requireOpen();
    if (part === 'database') await this.#database.read({ text: 'SELECT 1' });
    if (part === undefined || part === 'schema') await this.schema.check();
    if (part === undefined || part === 'counts') await this.#requireCount();
  }

  async checkRecording(nowMs: number): Promise<void> {
    this.#requireOpen();
    await this.#recordingCheck.run(nowMs);
  }

  async stats(): Promise<StoreStats> {
    const { pending } = this.#recorder;
    // Read before reading the size takes a connection.
    const { pools } = this.#database;
    const size = withDatabaseDeadline(statsTimeoutMs, () =>
      this.#database.read<{ readonly bytes: number }>({ text: this.#statements.databaseSize }),
    );
    const sizeBytes = await size.then(([row]) => row?.bytes).catch(() => undefined);
    const servers = sizeBytes === undefined ? [] : await this.#serverStates();
    return { ...pending, pools, sizeBytes, servers };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    // Finishes what was accepted first; all of it has a deadline.
    await Promise.all([this.#recorder.close(), this.#turn]);
    this.schema.giveUp();
    await this.#database.close();
  }

  /** On a cluster, one dead server makes no node unready: the others' projects are served. */
  async #requireCount(): Promise<void> {
    const servers = await this.#findServers();
    if (servers.length > 0) return requireAnyServer(servers, (projectId) => this.count(projectId, ALL_TIME));
    await this.count('', ALL_TIME);
  }

  async #serverStates(): Promise<ServerState[]> {
    const find = withDatabaseDeadline(statsTimeoutMs, () => this.#findServers());
    return probeServers(await find.catch(() => []), (projectId) => this.count(projectId, ALL_TIME));
  }

  async #findServers(): Promise<ShardServer[]> {
    const [citus] = await this.#database.read({ text: HAS_CITUS });
    return citus === undefined ? [] : this.#read('findServers');
  }

  async #read<R = Row>(name: StatementName, values: readonly unknown[] = []): Promise<R[]> {
    await this.#requireReady();
    return this.#database.read({ name, text: this.#statements[name] }, values);
  }

  /** Runs a statement of the sign-in library. One that writes is not repeated. */
  async #runUserStatement({ sql, parameters }: UserStatement): Promise<UserStatementResult> {
    await this.#requireReady();
    try {
      if (!/^\s*select\b/i.test(sql))
        return await this.#database.write({ text: sql }, parameters, { repeatable: false });
      return { rows: await this.#database.read({ text: sql }, parameters), changes: 0 };
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new CallerStatsError('already_exists', 'There is such a row already.', { cause: error });
    }
  }

  /**
   * Runs a change in its own transaction. The changes of one store object run in the order of their calls, on any
   * connection.
   */
  async #transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#requireOpen();
    const done = this.#turn.then(() => this.#inTransaction(work));
    this.#turn = done.catch(() => {});
    return withDatabaseDeadline(this.#options.timeoutMs, () => done);
  }

  /** Runs a change in its own transaction, beside all others. */
  async #unordered<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.#requireOpen();
    return withDatabaseDeadline(this.#options.timeoutMs, () => this.#inTransaction(work));
  }

  async #inTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    await this.schema.ready();
    return this.#database.transaction(work);
  }

  /** Without a name, so that each call is planned with its project: Citus then sends all of it to the project's server. */
  async #callRecord(call: RecordCall): Promise<RecordAnswer> {
    await this.schema.ready();
    const { projectId, ids, times, callers } = call;
    try {
      const { rows } = await this.#database.write<{ readonly duplicates: readonly number[] | null }>(
        { text: this.#statements.record },
        [projectId, ids, times, callers],
        { repeatable: true },
      );
      if (rows[0] === undefined) throw new Error('Invariant violated: the function record returns one row.');
      return rows[0].duplicates;
    } catch (error) {
      const rowsFrom = rowsFromOf(error);
      if (rowsFrom === undefined) throw error;
      return { rowsFrom };
    }
  }

  /** Takes no lock, so that recordings do not wait for it. */
  async #checkCounts(values: readonly unknown[]): Promise<ImportOutcome | null> {
    const [outcome] = await this.#database.read<ImportOutcome>(
      { text: this.#statements.checkCounts },
      values,
    );
    return outcome ?? null;
  }

  /** Without a name, as `#callRecord`. */
  async #callImport(values: readonly unknown[]): Promise<ImportOutcome | null> {
    const { rows } = await this.#database.write<{ readonly outcome: Partial<ImportOutcome> | null }>(
      { text: this.#statements.importCounts },
      values,
      { repeatable: true },
    );
    const { outcome = null } = rows[0] ?? {};
    return outcome && { recorded: 0, conflicts: null, ...outcome };
  }

  async #requireReady(): Promise<void> {
    this.#requireOpen();
    await this.schema.ready();
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw unavailable('The store is closing.');
  }
}

function toColumns(segments: readonly Segment[]): number[][] {
  return [
    segments.map(({ level }) => level),
    segments.map(({ first }) => first),
    segments.map(({ end }) => end),
  ];
}
