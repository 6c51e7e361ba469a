/**
 * The writer thread: owns the only connection that writes, so that neither a commit nor a large batch holds up the
 * main thread, where requests are read and counts are answered. Speaks `ToWriter` and `FromWriter`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { CallerStatsError, type ErrorCode } from '../../domain/errors.js';
import type { Outcome } from '../commit-queue.js';
import { setCacheSize } from './connection.js';
import { storeError } from './errors.js';
import { type Keeping, MIGRATIONS, openMigrated } from './migrations.js';
import type { Operation } from './operations.js';
import { Writer } from './writer.js';

export interface WriterData {
  readonly file: string;
  /** Megabytes (2^20 bytes) of the file that are kept in memory; undefined for as many as suit a server. */
  readonly cacheMegabytes: number | undefined;
}

/** A group of operations to commit, or the word to stop. */
export type ToWriter = readonly Operation[] | 'close';

/** First `ready` or `failed`; then, for each group in turn, its outcomes or `failed`. */
export type FromWriter =
  | { readonly kind: 'ready'; readonly kept: string | null }
  | { readonly kind: 'outcomes'; readonly outcomes: readonly Outcome<unknown>[] }
  | {
      readonly kind: 'failed';
      readonly code: ErrorCode | undefined;
      readonly message: string;
      readonly cause: unknown;
    };

/** What the thread is started with. */
export interface WriterStart extends Pick<Keeping, 'keepOld'> {
  readonly file: string;
  /** See `OpenOptions`. */
  readonly thrifty?: boolean;
}

/** What is recorded next mostly stands close to what was: a log is in the order of time, and so are most ids. */
const thriftyCacheMegabytes = 16;

function run(
  { file, keepOld = true, thrifty = false }: WriterStart,
  answer: (message: FromWriter) => void,
  listen: (hear: (message: ToWriter) => void) => void,
) {
  let kept: string | null = null;
  const onKept = (copy: string): void => {
    kept = copy;
  };
  const db = openMigrated(file, MIGRATIONS, { keepOld, onKept });
  if (thrifty) setCacheSize(db, thriftyCacheMegabytes);
  const writer = new Writer(db);
  listen((message) => {
    if (message === 'close') {
      // Everything into the one file, which may then be copied alone.
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      db.close();
      parentPort?.close();
      return;
    }
    try {
      answer({ kind: 'outcomes', outcomes: writer.commit(message) });
    } catch (error) {
      answer(failed(error));
    }
  });
  answer({ kind: 'ready', kept });
}

function failed(error: unknown): FromWriter {
  if (error instanceof CallerStatsError) {
    return { kind: 'failed', code: error.code, message: error.message, cause: error.cause };
  }
  return {
    kind: 'failed',
    code: undefined,
    message: error instanceof Error ? error.message : String(error),
    cause: error,
  };
}

const port = parentPort;
if (port !== null) {
  const answer = (message: FromWriter): void => port.postMessage(message);
  try {
    run(workerData as WriterStart, answer, (hear) => port.on('message', hear));
  } catch (error) {
    answer(failed(storeError(error)));
    port.close();
  }
}
