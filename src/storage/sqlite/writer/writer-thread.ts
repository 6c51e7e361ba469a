/** The writer thread has the only connection that writes, so that commits and large batches do not block the main thread. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { CallerStatsError, type ErrorCode } from '../../../domain/errors.js';
import type { Outcome } from '../../commit-queue.js';
import { setUpImport } from '../connection.js';
import { storeError } from '../errors.js';
import { MIGRATIONS } from '../migrations/index.js';
import { type BackupOptions, openMigrated } from '../migrations/migrate.js';
import type { Operation } from './operations.js';
import { Writer } from './writer.js';

/** A group of operations to commit, or a request to stop. */
export type ToWriter = readonly Operation[] | 'close';

/** The first result is the name of the backup of an older file, or null. Then follow the outcomes of each group. */
export type WriterResult = string | null | readonly Outcome<unknown>[];

export type FromWriter<Result extends WriterResult> =
  | { readonly ok: true; readonly result: Result; readonly stamp?: string }
  | {
      readonly ok: false;
      readonly code: ErrorCode | undefined;
      readonly message: string;
      readonly cause: unknown;
    };

export interface WriterStart extends Pick<BackupOptions, 'keepOld'> {
  readonly file: string;
  /** See `OpenOptions`. */
  readonly forImport?: boolean | undefined;
}

/** Never null, because this file runs only on worker threads. */
const port = parentPort as MessagePort;

function run({ file, keepOld, forImport }: WriterStart): void {
  let kept: string | null = null;
  const onBackup = (copy: string): void => {
    kept = copy;
  };
  const db = openMigrated(file, MIGRATIONS, { keepOld, onBackup });
  if (forImport) setUpImport(db);
  const writer = new Writer(db);
  port.on('message', (message: ToWriter) => {
    if (message === 'close') {
      // Moves the log into the file, which can then be copied alone.
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      port.close();
      return;
    }
    writer.commit(message).then(
      (result) => answer({ ok: true, result, stamp: writer.stamp }),
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
  const message = error instanceof Error ? error.message : String(error);
  return { ok: false, code: undefined, message, cause: error };
}

try {
  run(workerData as WriterStart);
} catch (error) {
  answer(failed(storeError(error)));
  port.close();
}
