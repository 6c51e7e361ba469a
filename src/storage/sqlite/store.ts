/** The store on one SQLite file: reads on this thread, writes in groups on the writer thread. */

import type { CallerCounts, Counts } from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import { CallerStatsError } from '../../domain/errors.js';
import type { Query } from '../../domain/queries/query.js';
import { Backlog, CommitQueue } from '../commit-queue.js';
import type { CountStore, RecordResult } from '../ports/counts.js';
import type { Access, DirectoryChanges, DirectoryReads } from '../ports/directory.js';
import type { Cleanup, Maintenance, Verification } from '../ports/maintenance.js';
import type { Store, SyncReads } from '../ports/store.js';
import { type CommitObserver, STORE_PARTS, type StorePart, type StoreStats } from '../ports/store-stats.js';
import type { Throttles } from '../ports/throttles.js';
import type { UserTables } from '../ports/user-tables.js';
import { SqlDirectoryChanges } from '../sql/directory-changes.js';
import { SqlDirectoryReads } from '../sql/directory-reads.js';
import { delegate, invoke } from '../sql/session.js';
import { type Connection, openReader } from './connection.js';
import { verify } from './counters/verify.js';
import { SQLITE } from './dialect.js';
import { storeError } from './errors.js';
import { makePrivately, OpenedFile, sizeOf } from './files/opened-file.js';
import { using } from './files/snapshot.js';
import { Reader } from './reader.js';
import { userTablesOver } from './user-tables.js';
import type {
  DirectoryCall,
  Operation,
  OperationKind,
  OperationResult,
  Operations,
} from './writer/operations.js';
import { WriterHandle } from './writer/writer-handle.js';

/**
 * Opens the file, made with its folder where there is none, and brings its schema up to date. `lowMemory` and `onBackup`
 * are those of `OpenOptions`.
 */
export async function openSqliteStore(
  file: string,
  { lowMemory, commits, onBackup }: SqliteOptions = {},
): Promise<Store> {
  await makePrivately(file);
  const start = () => WriterHandle.start({ file, lowMemory });
  const writer = await start();
  if (writer.kept !== null) onBackup?.(writer.kept);
  try {
    const reader = openReader(file);
    const store = new SqliteStore(
      { file: new OpenedFile(file), startWriter: start, commits },
      writer,
      reader,
    );
    return Object.assign(store, store.directoryReads(), store.directoryChanges());
  } catch (error) {
    await writer.close();
    throw storeError(error);
  }
}

interface SqliteOptions {
  readonly lowMemory?: boolean | undefined;
  readonly commits?: CommitObserver | undefined;
  readonly onBackup?: ((copy: string) => void) | undefined;
}

interface SqliteStoreOptions {
  readonly file: OpenedFile;
  readonly startWriter: () => Promise<WriterHandle>;
  readonly commits: CommitObserver | undefined;
}

/** All of the store but the directory's methods, which are made from the classes that implement them. */
class SqliteStore implements CountStore, Maintenance {
  readonly userTables: UserTables;
  readonly throttles: Throttles = {
    take: (key, limit, nowMs) => this.#submit('takeAttempt', { key, limit, nowMs }),
    giveBack: (key, resetsAt) => this.#submit('giveBackAttempt', { key, resetsAt }),
    reset: (key) => this.#submit('resetAttempts', { key }),
  };
  readonly #file: OpenedFile;
  readonly #startWriter: () => Promise<WriterHandle>;
  readonly #connection: Connection;
  readonly #reader: Reader;
  readonly #backlog = new Backlog();
  readonly #queue: CommitQueue<Operation, OperationResult>;
  #writer: WriterHandle;
  #closing: Promise<void> | undefined;

  constructor(
    { file, startWriter, commits }: SqliteStoreOptions,
    writer: WriterHandle,
    connection: Connection,
  ) {
    this.#file = file;
    this.#startWriter = startWriter;
    this.#writer = writer;
    this.#connection = connection;
    this.#reader = new Reader(connection);
    this.#queue = new CommitQueue({
      commit: (operations) => this.#commit(operations),
      weigh: (operation) => (operation.kind === 'record' ? operation.ids.length : 1),
      backlog: this.#backlog,
      observer: commits,
    });
    this.userTables = userTablesOver(
      (read) => this.#read(() => read(connection)),
      (statement) => this.#submit('userStatement', statement),
    );
  }

  directoryReads(): DirectoryReads {
    const reads = new SqlDirectoryReads(
      {
        get: (sql, values) => this.#read(({ statements }) => statements.get(sql, values)),
        all: (sql, values) => this.#read(({ statements }) => statements.all(sql, values)),
        run: () => {
          throw new Error('a read changes nothing');
        },
      },
      SQLITE,
    );
    return delegate<DirectoryReads>(SqlDirectoryReads, (method, args) => invoke(reads, method, args));
  }

  directoryChanges(): DirectoryChanges {
    return delegate<DirectoryChanges>(SqlDirectoryChanges, (method, args) =>
      this.#submit('directory', { method, args } as DirectoryCall),
    );
  }

  async findAccess(keyHash: string, projectId: string): Promise<Access | undefined> {
    return this.#read((reader) => reader.findAccess(keyHash, projectId));
  }

  readonly readSync = <T>(work: (reads: SyncReads) => T): T =>
    this.#read((reader) =>
      reader.snapshot.run(() =>
        work({
          findAccess: (keyHash, projectId) => reader.findAccess(keyHash, projectId),
          count: (projectId, range) => reader.counters.count(projectId, range),
        }),
      ),
    );

  async purgeDeleted(limit: number): Promise<Cleanup> {
    // The writer is asked only if there is something to do.
    if (!this.#read((reader) => reader.hasDeleted())) return { removed: 0, done: true };
    return this.#submit('purgeDeleted', { limit });
  }

  async applyRetention(nowMs: number, limit: number): Promise<Cleanup> {
    if (!this.#read((reader) => reader.hasRetentionToApply(nowMs))) return { removed: 0, done: true };
    return this.#submit('applyRetention', { nowMs, limit });
  }

  async record(projectId: string, queries: readonly Query[]): Promise<RecordResult> {
    return this.#submit('record', {
      projectId,
      ids: queries.map(({ id }) => id),
      callers: queries.map(({ caller }) => caller),
      occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
    });
  }

  async count(projectId: string, range: DateRange): Promise<Counts> {
    return this.#read((reader) => reader.counters.count(projectId, range));
  }

  async countSeries(projectId: string, bounds: readonly number[]): Promise<readonly Counts[]> {
    return this.#read((reader) => reader.counters.countSeries(projectId, bounds));
  }

  async countCallers(projectId: string, range: DateRange): Promise<CallerCounts> {
    return this.#read((reader) => reader.counters.countCallers(projectId, range));
  }

  async findExtent(projectId: string): Promise<DateRange | undefined> {
    return this.#read((reader) => reader.counters.findExtent(projectId));
  }

  async readQueries(projectId: string, afterId: string | undefined, limit: number): Promise<Query[]> {
    return this.#read((reader) => reader.readQueries(projectId, afterId, limit));
  }

  async verify(): Promise<Verification> {
    this.#requireOpen();
    // A connection of its own, so that its long snapshot does not outlive it on the one that answers.
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

  async stats(): Promise<StoreStats> {
    const sizeBytes = this.#closing === undefined ? await sizeOf(this.#file.name) : undefined;
    return { ...this.#backlog.pending, sizeBytes, pools: [] };
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
      // A writer that died takes its transaction with it; the next group gets a new one, of this very file.
      this.#file.requireThere();
      this.#writer = await this.#startWriter();
    }
    const outcomes = await this.#writer.commit(operations);
    // What went to a file that nobody will ever read must not be acknowledged.
    this.#file.requireThere();
    return outcomes;
  }

  /** The writer answers each operation with the result of its kind. */
  #submit<Kind extends OperationKind>(
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
