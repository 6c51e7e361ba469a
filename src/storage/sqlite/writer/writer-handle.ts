import type { Worker } from 'node:worker_threads';
import { CallerStatsError } from '../../../domain/errors.js';
import { startThread } from '../../../shared/start-thread.js';
import type { Outcome } from '../../commit-queue.js';
import { openReader } from '../connection.js';
import { makePrivately } from '../files/opened-file.js';
import { NEWEST_VERSION } from '../migrations/index.js';
import { inspectFile } from '../migrations/migrate.js';
import { commitMerged } from './merged-recordings.js';
import type { Operation } from './operations.js';
import type { FromWriter, ToWriter, WriterResult, WriterStart } from './writer-thread.js';

/** The young generation of the thread of an import, mostly batches. By default it would grow to about 50 MB and stay there. */
const youngMegabytesMax = 12;

/** The main thread's handle of a writer thread. Commits one group at a time: wait for `commit` before calling it again. */
export class WriterHandle {
  readonly #worker: Worker;
  readonly #ended: Promise<void>;
  /** Settles the promise for the next message. The first promise is made before the thread can send a message. */
  #settle!: { resolve: (message: FromWriter<never>) => void; reject: (error: Error) => void };
  #gone: Error | undefined;
  #kept: string | null = null;
  #stamp: string | undefined;

  /** Starts a thread, which opens the file and migrates its schema. `thread` replaces `writer-thread.ts` in tests. */
  static async start(start: WriterStart, thread?: URL): Promise<WriterHandle> {
    const handle = new WriterHandle(start, thread);
    try {
      handle.#kept = await handle.#next<string | null>();
      return handle;
    } catch (error) {
      // A thread that failed ends by itself. Terminating it inside the native driver would crash Node.
      await handle.#ended;
      throw error;
    }
  }

  private constructor(start: WriterStart, thread = new URL('./writer-thread.cjs', import.meta.url)) {
    this.#worker = startThread(thread, {
      workerData: start,
      ...(start.forImport ? { resourceLimits: { maxYoungGenerationSizeMb: youngMegabytesMax } } : {}),
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

  /** The backup of the file before its migration; null if it had the newest version. */
  get kept(): string | null {
    return this.#kept;
  }

  /** The stamp of the writer after the last group; see `Writer.stamp`. */
  get stamp(): string | undefined {
    return this.#stamp;
  }

  /** False once the thread has ended. */
  get alive(): boolean {
    return this.#gone === undefined;
  }

  /** Commits a group in one transaction; see `Writer.commit`. */
  commit(operations: readonly Operation[]): Promise<readonly Outcome<never>[]> {
    return commitMerged(operations, (merged) => {
      const outcomes = this.#next<readonly Outcome<never>[]>();
      this.#worker.postMessage(merged satisfies ToWriter);
      return outcomes;
    });
  }

  /** Closes the file and ends the thread. */
  async close(): Promise<void> {
    this.#worker.postMessage('close' satisfies ToWriter);
    await this.#ended;
  }

  /** Waits for the next message of the thread, and returns its result or throws its error. */
  async #next<Result extends WriterResult>(): Promise<Result> {
    if (this.#gone !== undefined) throw unavailable(this.#gone);
    const message = await new Promise<FromWriter<Result>>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    if (message.ok) {
      this.#stamp = message.stamp;
      return message.result;
    }
    if (message.code !== undefined)
      throw new CallerStatsError(message.code, message.message, { cause: message.cause });
    throw new Error(message.message, { cause: message.cause });
  }

  #end(error: Error): void {
    this.#gone ??= error;
    this.#settle.reject(unavailable(this.#gone));
  }
}

/**
 * Migrates a file to the newest version, and creates it if it does not exist. `before` is the version that it had, `kept` the backup
 * of an older one.
 */
export async function migrateSqliteFile(
  file: string,
  keepOld: boolean,
): Promise<{ readonly before: number; readonly version: number; readonly kept: string | null }> {
  await makePrivately(file);
  const before = inspectFile(file, openReader);
  const writer = await WriterHandle.start({ file, keepOld });
  await writer.close();
  return { before, version: NEWEST_VERSION, kept: writer.kept };
}

function unavailable(cause: Error): CallerStatsError {
  return new CallerStatsError('unavailable', 'The database cannot be written now: its writer stopped.', {
    cause,
  });
}
