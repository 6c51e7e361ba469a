/**
 * The writer thread: owns the only connection that writes, so that neither a commit nor a large batch holds up the
 * main thread, where requests are read and counts are answered. Speaks `ToWriter` and `FromWriter`.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CallerStatsError, type ErrorCode } from '../../../domain/errors.js';
import type { Outcome } from '../../commit-queue.js';
import { setCacheSize } from '../connection.js';
import { storeError } from '../errors.js';
import { MIGRATIONS } from '../migrations/index.js';
import { type Keeping, openMigrated } from '../migrations/migrate.js';
import type { Operation, OperationResult } from './operations.js';
import { Writer } from './writer.js';

/** A group of operations to commit, or the word to stop. */
export type ToWriter = readonly Operation[] | 'close';

/** Of the start, the name of the copy that was kept of an older file, or null; of each group, its outcomes. */
export type WriterResult = string | null | readonly Outcome<OperationResult>[];

/** The answer to the start, and then to each group in turn. */
export type FromWriter<Result extends WriterResult> =
  | { readonly ok: true; readonly result: Result }
  | {
      readonly ok: false;
      readonly code: ErrorCode | undefined;
      readonly message: string;
      readonly cause: unknown;
    };

/** What the thread is started with. */
export interface WriterStart extends Pick<Keeping, 'keepOld'> {
  readonly file: string;
  /** See `OpenOptions`. */
  readonly lowMemory?: boolean | undefined;
}

/** What is recorded next mostly stands close to what was: a log is in the order of time, and so are most ids. */
const lowMemoryCacheMegabytes = 16;

/** Every thread but the main one has it, and this file is run on none but a thread. */
const port = parentPort as MessagePort;

function run({ file, keepOld, lowMemory }: WriterStart): void {
  let kept: string | null = null;
  const onBackup = (copy: string): void => {
    kept = copy;
  };
  const db = openMigrated(file, MIGRATIONS, { keepOld, onBackup });
  if (lowMemory) setCacheSize(db, lowMemoryCacheMegabytes);
  const writer = new Writer(db);
  port.on('message', (message: ToWriter) => {
    if (message === 'close') {
      // Everything into the one file, which may then be copied alone.
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      port.close();
      return;
    }
    writer.commit(message).then(
      (result) => answer({ ok: true, result }),
      (error: unknown) => answer(failed(error)),
    );
  });
  answer({ ok: true, result: kept });
}

function answer(message: FromWriter<WriterResult>): void {
  port.postMessage(message);
}

function failed(error: unknown): FromWriter<never> {
  if (error instanceof CallerStatsError) {
    return { ok: false, code: error.code, message: error.message, cause: error.cause };
  }
  return {
    ok: false,
    code: undefined,
    message: error instanceof Error ? error.message : String(error),
    cause: error,
  };
}

try {
  run(workerData as WriterStart);
} catch (error) {
  answer(failed(storeError(error)));
  port.close();
}
