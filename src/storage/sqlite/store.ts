/** The store on one SQLite file: reads on this thread, writes in groups on the writer thread. */
import type { Counts } from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import type { CutSpan, ImportedCount } from '../../domain/counting/imported-count.js';
import { CallerStatsError } from '../../domain/errors.js';
import { importCommitQueriesMax } from '../../domain/limits.js';
import type { Query } from '../../domain/queries/query.js';
import { SharedCalls } from '../../shared/shared-calls.js';
import { Backlog, CommitQueue } from '../commit-queue.js';
import type { ComparedCallerCounts, CountStore, RecordResult, SeriesByCaller } from '../ports/counts.js';
import type { Access, DirectoryChanges, DirectoryReads } from '../ports/directory.js';
import type { Ingestion } from '../ports/ingestion.js';
import type { Cleanup, Maintenance, Verification } from '../ports/maintenance.js';
import type { Notifications } from '../ports/notifications.js';
import type { OpenOptions } from '../ports/open-options.js';
import type { Questions } from '../ports/questions.js';
import type { Store } from '../ports/store.js';
import { type CommitObserver, STORE_PARTS, type StorePart, type StoreStats } from '../ports/store-stats.js';
import type { Throttles } from '../ports/throttles.js';
import type { UserTables } from '../ports/user-tables.js';
import { RecordingCheck } from '../recording-check.js';
import { SqlDirectoryChanges } from '../sql/directory-changes.js';
import { SqlDirectoryReads } from '../sql/directory-reads.js';
import { INGESTION_READS, SqlIngestion } from '../sql/ingestion.js';
import { NOTIFICATION_READS, SqlNotifications } from '../sql/notifications.js';
import { SqlQuestions } from '../sql/questions.js';
import { delegate, invoke, type Session as SqlSession } from '../sql/session.js';
import { SqlThrottles } from '../sql/throttles.js';
import { type Connection, openReader } from './connection.js';
import { verify } from './counters/verify.js';
import { SQLITE } from './dialect.js';
import { storeError } from './errors.js';
import { makePrivately, OpenedFile, sizeOf } from './files/opened-file.js';
import { using } from './files/snapshot.js';
import { Reader } from './reader.js';
import { userTablesOver } from './user-tables.js';
import type { Operation, OperationResult, Operations } from './writer/operations.js';
import { WriterHandle } from './writer/writer-handle.js';

/** Opens the file, creates it and its folder if they do not exist, and migrates its schema. */
export async function openSqliteStore(
  file: string,
  { forImport, commits, onBackup }: OpenOptions = {},
): Promise<Store> {
  await makePrivately(file);
  const start = () => WriterHandle.start({ file, forImport });
  const writer = await start();
  if (writer.kept !== null) onBackup?.(writer.kept);
  try {
    const store = new SqliteStore(file, start, writer, commits);
    return Object.assign(store, store.directory());
  } catch (error) {
    await writer.close();
    throw storeError(error);
  }
}

/** Implements the store except the directory's methods, which `delegate` adds. */
class SqliteStore implements CountStore, Maintenance {
  readonly userTables: UserTables;
  readonly throttles: Throttles = delegate<Throttles>(SqlThrottles, (method, args) =>
    this.#submit('throttles', { method, args } as Operations['throttles']['input']),
  );
  readonly questions: Questions = delegate<Questions>(SqlQuestions, (method, args) =>
    this.#submit('questions', { method, args } as Operations['questions']['input']),
  );
  readonly ingestion: Ingestion = delegate<Ingestion>(SqlIngestion, async (method, args) =>
    INGESTION_READS.includes(method)
      ? invoke(new SqlIngestion(this.#reads, SQLITE), method, args)
      : this.#submit('ingestion', { method, args } as Operations['ingestion']['input']),
  );
  readonly notifications: Notifications = delegate<Notifications>(SqlNotifications, async (method, args) =>
    NOTIFICATION_READS.includes(method)
      ? invoke(new SqlNotifications(this.#reads, SQLITE), method, args)
      : this.#submit('notifications', { method, args } as Operations['notifications']['input']),
  );
  readonly #reads: SqlSession = {
    all: (sql, values) => this.#read(({ statements }) => statements.all(sql, values)),
    run: () => {
      throw new Error('a read changes nothing');
    },
  };
  readonly #startWriter: () => Promise<WriterHandle>;
  readonly #connection: Connection;
  readonly #file: OpenedFile;
  readonly #reader: Reader;
  readonly #backlog = new Backlog();
  readonly #recordingCheck = new RecordingCheck(this.throttles);
  readonly #queue: CommitQueue<Operation, OperationResult>;
  readonly #accesses = new SharedCalls<Access | undefined>();
  #writer: WriterHandle;
  #closing: Promise<void> | undefined;

  constructor(
    file: string,
    startWriter: () => Promise<WriterHandle>,
    writer: WriterHandle,
    commits: CommitObserver | undefined,
  ) {
    this.#startWriter = startWriter;
    this.#writer = writer;
    this.#connection = openReader(file);
    this.#reader = new Reader(this.#connection);
    this.#file = new OpenedFile(file);
    this.#queue = new CommitQueue({
      commit: (operations) => this.#commit(operations),
      weigh,
      backlog: this.#backlog,
      observer: this.#recordingCheck.observe(commits),
    });
    this.userTables = userTablesOver(
      (read) => this.#read(() => read(this.#connection)),
      (statement) => this.#submit('userStatement', statement),
    );
  }

  directory(): DirectoryReads & DirectoryChanges {
    const reads = new SqlDirectoryReads(this.#reads, SQLITE);
    return {
      ...delegate<DirectoryReads>(SqlDirectoryReads, (method, args) => invoke(reads, method, args)),
      ...delegate<DirectoryChanges>(SqlDirectoryChanges, (method, args) =>
        this.#submit('directory', { method, args } as Operations['directory']['input']),
      ),
    };
  }

  findAccess(keyHash: string, projectId: string): Promise<Access | undefined> {
    return this.#accesses.ask(`${keyHash} ${projectId}`, async () =>
      this.#read((reader) => {
        // A request starts with this, and goes on to what it wants to read. A snapshot takes longer than finding a key.
        reader.snapshot.hold();
        return reader.findAccess(keyHash, projectId);
      }),
    );
  }

  async purgeDeleted(limit: number): Promise<Cleanup> {
    // Asks the writer only if there is something to do.
    if (!this.#read((reader) => reader.hasDeleted())) return { removed: 0, done: true };
    return this.#submit('purgeDeleted', { limit });
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    if (!this.#read((reader) => reader.hasRetentionToApply(nowMs))) return { removed: 0, done: true };
    return this.#submit('applyRetention', { nowMs, limit });
  }

  readonly importBatchQueries = importCommitQueriesMax;

  async record(projectId: string, queries: readonly Query[]): Promise<RecordResult> {
    return this.#submit('record', {
      projectId,
      ids: queries.map(({ id }) => id),
      callers: queries.map(({ caller }) => caller),
      occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
    });
  }

  async importCounts(
    projectId: string,
    counts: readonly ImportedCount[],
    { dryRun = false }: { readonly dryRun?: boolean } = {},
  ): Promise<RecordResult> {
    return this.#submit('importCounts', { projectId, counts, dryRun });
  }

  async count(projectId: string, range: DateRange, caller?: string): Promise<Counts> {
    return this.#read((reader) => reader.counters.count(projectId, range, caller));
  }

  async countSeries(
    projectId: string,
    bounds: readonly number[],
    caller?: string,
  ): Promise<readonly Counts[]> {
    return this.#read((reader) => reader.counters.countSeries(projectId, bounds, caller));
  }

  async countSeriesByCaller(
    projectId: string,
    bounds: readonly number[],
    callers: readonly string[],
  ): Promise<SeriesByCaller> {
    return this.#read((reader) => reader.counters.countSeriesByCaller(projectId, bounds, callers));
  }

  async countCallers(
    projectId: string,
    range: DateRange,
    compared?: DateRange,
  ): Promise<ComparedCallerCounts> {
    return this.#read((reader) => reader.counters.countCallers(projectId, range, compared));
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    return this.#read((reader) => reader.counters.findExtent(projectId));
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<Query[]> {
    return this.#read((reader) => reader.readQueries(projectId, afterId, limit));
  }

  async readImportedCounts(
    projectId: string,
    after: ImportedCount | undefined,
    limit: number,
  ): Promise<ImportedCount[]> {
    return this.#read((reader) => reader.readImportedCounts(projectId, after, limit));
  }

  async findCutSpan(projectId: string, timeMs: number): Promise<CutSpan | undefined> {
    return this.#read((reader) => reader.findCutSpan(projectId, timeMs));
  }

  async verify(): Promise<Verification> {
    this.#requireOpen();
    // On its own connection, because it holds one snapshot for seconds.
    try {
      return using(openReader(this.#file.name), verify);
    } catch (error) {
      throw storeError(error);
    }
  }

  async check(part?: StorePart): Promise<void> {
    this.#file.requireThere();
    const parts = part === undefined ? STORE_PARTS : [part];
    for (const one of parts) this.#read((reader) => reader.check(one));
  }

  async checkRecording(nowMs: number): Promise<void> {
    this.#requireOpen();
    await this.#recordingCheck.run(nowMs);
  }

  async stats(): Promise<StoreStats> {
    const sizeBytes = this.#closing === undefined ? await sizeOf(this.#file.name) : undefined;
    return { ...this.#backlog.pending, sizeBytes, pools: [], servers: [] };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.close();
    this.#file.close();
    this.#connection.close();
    await this.#writer.close();
  }

  async #commit(operations: readonly Operation[]) {
    if (!this.#writer.alive) {
      // The transaction of a writer that died is rolled back. The next group gets a new writer of the same file.
      this.#file.requireThere();
      this.#writer = await this.#startWriter();
    }
    const outcomes = await this.#writer.commit(operations);
    // A commit to a file that was deleted or replaced is lost, so it must not be acknowledged.
    this.#file.requireThere();
    return outcomes;
  }

  /** Resolves with the result of this kind of operation. */
  #submit<Kind extends keyof Operations>(
    kind: Kind,
    input: Operations[Kind]['input'],
  ): Promise<Operations[Kind]['result']> {
    return this.#queue.submit({ kind, ...input } as Operation);
  }

  #read<T>(read: (reader: Reader) => T): T {
    this.#requireOpen();
    this.#file.requireThereLately();
    try {
      return read(this.#reader);
    } catch (error) {
      throw storeError(error);
    }
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new CallerStatsError('unavailable', 'The store is closing.');
  }
}

/** The number of rows that an operation adds; 1 for other operations. */
function weigh(operation: Operation): number {
  if (operation.kind === 'record') return operation.ids.length;
  return operation.kind === 'importCounts' ? operation.counts.length : 1;
}
