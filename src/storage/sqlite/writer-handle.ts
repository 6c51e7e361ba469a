import { Worker } from 'node:worker_threads';
import { CallerStatsError } from '../../domain/errors.js';
import type { Outcome } from '../commit-queue.js';
import type { Operation } from './operations.js';
import type { FromWriter, ToWriter, WriterStart } from './writer-thread.js';

/**
 * Of a thrifty thread's memory for what is new, most of which is batches that are gone when they are written. Node would
 * let it grow to some fifty megabytes, and keep them.
 */
const youngMegabytesMax = 12;

/** The main thread's end of one writer thread. One group at a time: `commit` is called again only after it settled. */
export class WriterHandle {
  readonly #worker: Worker;
  #settle: { resolve: (message: FromWriter) => void; reject: (error: Error) => void } | undefined;
  #gone: Error | undefined;

  #kept: string | null = null;

  /** Starts a thread that has the file open and its schema up to date when this resolves. */
  static async start(start: WriterStart): Promise<WriterHandle> {
    const handle = new WriterHandle(start);
    try {
      const message = await handle.#next();
      if (message.kind === 'ready') handle.#kept = message.kept;
      return handle;
    } catch (error) {
      await handle.#worker.terminate();
      throw error;
    }
  }

  private constructor(start: WriterStart) {
    this.#worker = new Worker(new URL('./writer-thread.js', import.meta.url), {
      workerData: start,
      ...(start.thrifty ? { resourceLimits: { maxYoungGenerationSizeMb: youngMegabytesMax } } : {}),
    });
    this.#worker.on('message', (message: FromWriter) => this.#settle?.resolve(message));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', (status) =>
      this.#end(new Error(`the writer thread ended with status ${status}`)),
    );
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
  async commit(operations: readonly Operation[]): Promise<readonly Outcome<unknown>[]> {
    const answer = this.#next();
    this.#worker.postMessage(operations satisfies ToWriter);
    const message = await answer;
    return message.kind === 'outcomes' ? message.outcomes : [];
  }

  /** Closes the file and ends the thread. */
  async close(): Promise<void> {
    if (!this.alive) return;
    const exited = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.#worker.postMessage('close' satisfies ToWriter);
    await exited;
  }

  async #next(): Promise<FromWriter> {
    if (this.#gone !== undefined) throw unavailable(this.#gone);
    const message = await new Promise<FromWriter>((resolve, reject) => {
      this.#settle = { resolve, reject };
    }).finally(() => {
      this.#settle = undefined;
    });
    if (message.kind !== 'failed') return message;
    if (message.code !== undefined)
      throw new CallerStatsError(message.code, message.message, { cause: message.cause });
    throw new Error(message.message, { cause: message.cause });
  }

  #end(error: Error): void {
    this.#gone ??= error;
    this.#settle?.reject(unavailable(this.#gone));
  }
}

function unavailable(cause: Error): CallerStatsError {
  return new CallerStatsError('unavailable', 'The database cannot be written now: its writer stopped.', {
    cause,
  });
}
