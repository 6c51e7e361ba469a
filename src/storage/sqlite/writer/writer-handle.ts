import { Worker } from 'node:worker_threads';
import { CallerStatsError } from '../../../domain/errors.js';
import type { Outcome } from '../../commit-queue.js';
import { makePrivately } from '../files/opened-file.js';
import { NEWEST_VERSION } from '../migrations/index.js';
import type { Operation, OperationResult } from './operations.js';
import type { FromWriter, ToWriter, WriterResult, WriterStart } from './writer-thread.js';

/**
 * Of a low-memory thread's memory for what is new, most of which is batches that are gone when they are written. Node would
 * let it grow to some fifty megabytes, and keep them.
 */
const youngMegabytesMax = 12;

/** The main thread's end of one writer thread. One group at a time: `commit` is called again only after it settled. */
export class WriterHandle {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  /** Of the answer that was asked for last. The first is asked for before the thread can say anything. */
  #settle!: { resolve: (message: FromWriter<never>) => void; reject: (error: Error) => void };
  #gone: Error | undefined;
  #kept: string | null = null;

  /**
   * Starts a thread that has the file open and its schema up to date when this resolves. `thread` is what it runs, and
   * speaks as `writer-thread.ts` does; it ends by itself once it failed to start.
   */
  static async start(start: WriterStart, thread?: URL): Promise<WriterHandle> {
    const handle = new WriterHandle(start, thread);
    try {
      handle.#kept = await handle.#next<string | null>();
      return handle;
    } catch (error) {
      // A thread that failed ends by itself. Ended from here, within the native driver, it would take the process along.
      await handle.#ended;
      throw error;
    }
  }

  private constructor(start: WriterStart, thread = new URL('./writer-thread.js', import.meta.url)) {
    this.#worker = new Worker(thread, {
      workerData: start,
      ...(start.lowMemory ? { resourceLimits: { maxYoungGenerationSizeMb: youngMegabytesMax } } : {}),
    });
    this.#worker.on('message', (message: FromWriter<never>) => this.#settle.resolve(message));
    this.#worker.on('error', (error) => this.#end(error));
    this.#ended = new Promise((resolve) => {
      this.#worker.on('exit', (status) => {
        this.#end(new Error(`the writer thread ended with status ${status}`));
        resolve();
      });
    });
  }

  /** The copy of the file that was kept as it was in an older version of the schema; null where it had the newest. */
  get kept(): string | null {
    return this.#kept;
  }

  /** False once the thread has ended, for whatever reason: start another. */
  get alive(): boolean {
    return this.#gone === undefined;
  }

  /** Commits a group in one transaction; see `Writer.commit`. */
  async commit(operations: readonly Operation[]): Promise<readonly Outcome<OperationResult>[]> {
    const outcomes = this.#next<readonly Outcome<OperationResult>[]>();
    this.#worker.postMessage(operations satisfies ToWriter);
    return outcomes;
  }

  /** Closes the file and ends the thread; one that has ended does not hear of it. */
  async close(): Promise<void> {
    this.#worker.postMessage('close' satisfies ToWriter);
    await this.#ended;
  }

  /** The result that the thread tells next; throws what it failed with instead. */
  async #next<Result extends WriterResult>(): Promise<Result> {
    if (this.#gone !== undefined) throw unavailable(this.#gone);
    const message = await new Promise<FromWriter<Result>>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    if (message.ok) return message.result;
    if (message.code !== undefined)
      throw new CallerStatsError(message.code, message.message, { cause: message.cause });
    throw new Error(message.message, { cause: message.cause });
  }

  #end(error: Error): void {
    this.#gone ??= error;
    this.#settle.reject(unavailable(this.#gone));
  }
}

/** Migrates a file to the newest version, and creates it if it does not exist. `kept` is the backup of an older version. */
export async function migrateSqliteFile(
  file: string,
  keepOld: boolean,
): Promise<{ readonly version: number; readonly kept: string | null }> {
  await makePrivately(file);
  const writer = await WriterHandle.start({ file, keepOld });
  await writer.close();
  return { version: NEWEST_VERSION, kept: writer.kept };
}

function unavailable(cause: Error): CallerStatsError {
  return new CallerStatsError('unavailable', 'The database cannot be written now: its writer stopped.', {
    cause,
  });
}
