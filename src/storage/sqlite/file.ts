/** An open file: reads on this thread, changes in groups on the writer thread. */
import { CallerStatsError } from '../../domain/errors.js';
import { finishWithPauses, nextTurn, Pauses } from '../../shared/pauses.js';
import { Slots } from '../../shared/slots.js';
import type { Steps } from '../../shared/steps.js';
import { Backlog, CommitQueue } from '../commit-queue.js';
import type { CommitObserver } from '../ports/store-stats.js';
import { type Connection, openReader } from './connection.js';
import { CounterReader } from './counters/counter-reader.js';
import { ReadSnapshot } from './counters/read-snapshot.js';
import { storeError } from './errors.js';
import { OpenedFile, sizeOf } from './files/opened-file.js';
import { Reader } from './reader.js';
import type { Operation, Operations } from './writer/operations.js';
import type { WriterHandle } from './writer/writer-handle.js';

/** The steps of a turn of a long read take one or two milliseconds. */
const longReadSteps = 2;

type InTurns = <T>(steps: Steps<T>) => Promise<T>;

export class SqliteFile {
  readonly name: string;
  readonly #startWriter: () => Promise<WriterHandle>;
  readonly #connection: Connection;
  readonly #file: OpenedFile;
  readonly #reader: Reader;
  readonly #backlog = new Backlog();
  /** Each operation results in what its kind says. */
  readonly #queue: CommitQueue<Operation, never>;
  /** Long reads take turns with all other work, one at a time. */
  readonly #longReads = new Slots(1);
  #longReader: LongReader | undefined;
  /** Undefined until the first change. */
  #writer: WriterHandle | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    name: string,
    startWriter: () => Promise<WriterHandle>,
    writer: WriterHandle | undefined,
    observer: CommitObserver | undefined,
  ) {
    this.name = name;
    this.#startWriter = startWriter;
    this.#writer = writer;
    this.#connection = openReader(name);
    this.#reader = new Reader(this.#connection);
    this.#file = new OpenedFile(name);
    const commit = (operations: readonly Operation[]) => this.#commit(operations);
    this.#queue = new CommitQueue({ commit, weigh, backlog: this.#backlog, observer });
  }

  get pending(): Backlog['pending'] {
    return this.#backlog.pending;
  }

  /** The writer's last stamp. Reads that begin after this see at least what it stands for. Undefined before the first change. */
  get stamp(): string | undefined {
    return this.#writer?.stamp;
  }

  read<T>(read: (reader: Reader) => T): T {
    this.requireOpen();
    this.#file.requireThereLately();
    try {
      return read(this.#reader);
    } catch (error) {
      throw storeError(error);
    }
  }

  /**
   * Counts on a connection of its own, whose snapshot stays open over many turns of the event loop. The snapshot is opened after
   * this was called. `inTurns` takes the steps of a count.
   */
  readInTurns<T>(read: (counters: CounterReader, inTurns: InTurns) => Promise<T>): Promise<T> {
    return this.#longReads.run(async () => {
      this.requireOpen();
      this.#file.requireThereLately();
      try {
        this.#longReader ??= openLongReader(this.name);
        const { snapshot, counters } = this.#longReader;
        const pauses = new Pauses(longReadSteps, async () => {
          await nextTurn();
          this.requireOpen();
        });
        return await snapshot.runInTurns(() => read(counters, (steps) => finishWithPauses(steps, pauses)));
      } catch (error) {
        throw storeError(error);
      }
    });
  }

  /** Resolves with the result of this kind of operation, once it is on disk. */
  submit<Kind extends keyof Operations>(
    operation: Operation & { readonly kind: Kind },
  ): Promise<Operations[Kind]['result']> {
    return this.#queue.submit(operation);
  }

  /** Between two long reads, whose snapshots would prevent it. Returns whether the log is empty. */
  emptyLog(): Promise<boolean> {
    return this.#longReads.run(() => this.submit({ kind: 'emptyLog' }));
  }

  /** Undefined once it is closed. */
  async size(): Promise<number | undefined> {
    return this.#closing === undefined ? sizeOf(this.name) : undefined;
  }

  requireOpen(): void {
    if (this.#closing !== undefined) throw new CallerStatsError('unavailable', 'The store is closing.');
  }

  /** `unavailable` if the file was deleted or replaced. */
  requireThere(): void {
    this.#file.requireThere();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#queue.close();
    await this.#longReads.run(async () => this.#longReader?.db.close());
    this.#file.close();
    this.#connection.close();
    await this.#writer?.close();
  }

  async #commit(operations: readonly Operation[]) {
    if (!this.#writer?.alive) {
      // The transaction of a writer that died is rolled back. The next group gets a new writer of the same file.
      this.#file.requireThere();
      this.#writer = await this.#startWriter();
    }
    const outcomes = await this.#writer.commit(operations);
    // A commit to a file that was deleted or replaced is lost, so it must not be acknowledged.
    this.#file.requireThere();
    return outcomes;
  }
}

interface LongReader {
  readonly db: Connection;
  readonly snapshot: ReadSnapshot;
  readonly counters: CounterReader;
}

function openLongReader(name: string): LongReader {
  const db = openReader(name);
  const snapshot = new ReadSnapshot(db);
  return { db, snapshot, counters: new CounterReader(db, snapshot) };
}

/** The number of rows that an operation adds; 1 for other operations. */
function weigh(operation: Operation): number {
  if (operation.kind === 'record') return operation.ids.length;
  return operation.kind === 'importCounts' ? operation.counts.length : 1;
}
