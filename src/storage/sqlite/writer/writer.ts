/** Makes all changes of the file. Runs on the writer thread. */
import { CallerStatsError } from '../../../domain/errors.js';
import type { Outcome } from '../../commit-queue.js';
import { SqlDirectoryChanges } from '../../sql/directory-changes.js';
import { invoke } from '../../sql/session.js';
import { type Connection, emptyLog, inAsyncTransaction, inSavepoint } from '../connection.js';
import { CounterDeltas } from '../counters/counter-deltas.js';
import { SQLITE } from '../dialect.js';
import { storeError } from '../errors.js';
import { Statements } from '../statements.js';
import { runUserStatement } from '../user-tables.js';
import type { DirectoryCall, Operation, OperationResult } from './operations.js';
import { Cleaner } from './purge.js';
import { Recording } from './recording.js';
import { giveBackAttempt, resetAttempts, takeAttempt } from './throttles.js';

export class Writer {
  readonly #db: Connection;
  readonly #statements: Statements;
  readonly #recording: Recording;
  readonly #directory: SqlDirectoryChanges;
  readonly #cleaner: Cleaner;

  constructor(db: Connection) {
    const statements = new Statements(db);
    this.#db = db;
    this.#statements = statements;
    this.#recording = new Recording(db, statements);
    this.#directory = new SqlDirectoryChanges(statements, SQLITE);
    this.#cleaner = new Cleaner(statements);
  }

  /**
   * Runs the operations in order in one transaction, durable when this resolves. An operation that is refused with a
   * `CallerStatsError` has changed nothing, and the others go on; any other error undoes all of them.
   *
   * Awaits nothing but statements, which answer at once: no message of the main thread is handled in between.
   */
  async commit(operations: readonly Operation[]): Promise<Outcome<OperationResult>[]> {
    try {
      const outcomes = await inAsyncTransaction(this.#db, async () => {
        const deltas = new CounterDeltas();
        const results: Outcome<OperationResult>[] = [];
        for (const operation of operations) {
          try {
            const value =
              operation.kind === 'directory'
                ? await this.#changeDirectory(operation)
                : this.#run(operation, deltas);
            results.push({ ok: true, value });
          } catch (error) {
            if (!(error instanceof CallerStatsError)) throw error;
            results.push({ ok: false, code: error.code, message: error.message, details: error.details });
          }
        }
        this.#recording.addToCounters(deltas);
        return results;
      });
      if (this.#cleaner.tookAll()) emptyLog(this.#db);
      return outcomes;
    } catch (error) {
      throw storeError(error);
    }
  }

  /** In a savepoint, because a rule may refuse a change after some of its statements. */
  #changeDirectory({ method, args }: DirectoryCall): Promise<OperationResult> {
    return inSavepoint(this.#db, async () => invoke(this.#directory, method, args));
  }

  #run(operation: Exclude<Operation, { kind: 'directory' }>, deltas: CounterDeltas): OperationResult {
    switch (operation.kind) {
      case 'record':
        return this.#recording.record(operation, deltas);
      case 'userStatement':
        return runUserStatement(this.#db, operation);
      case 'takeAttempt':
        return takeAttempt(this.#statements, operation);
      case 'giveBackAttempt':
        giveBackAttempt(this.#statements, operation);
        return undefined;
      case 'resetAttempts':
        resetAttempts(this.#statements, operation);
        return undefined;
      case 'purgeDeleted':
        return this.#cleaner.purgeDeleted(operation.limit);
      case 'applyRetention':
        return this.#cleaner.applyRetention(operation.nowMs, operation.limit);
    }
  }
}
