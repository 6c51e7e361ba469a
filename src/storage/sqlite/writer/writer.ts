/** Makes all changes of the file. Runs on the writer thread. */
import { CallerStatsError } from '../../../domain/errors.js';
import { type Outcome, refused } from '../../commit-queue.js';
import type { CorrectionChanges } from '../../ports/corrections.js';
import type { Identities } from '../../ports/identities.js';
import { SqlCorrectionChanges } from '../../sql/corrections/corrections.js';
import { SqlDirectoryChanges } from '../../sql/directory-changes.js';
import { SqlIdentityChanges } from '../../sql/identities/identity-changes.js';
import { SqlIngestionChanges } from '../../sql/ingestion.js';
import { SqlNotificationChanges } from '../../sql/notifications.js';
import { call } from '../../sql/session.js';
import { SqlThrottleChanges } from '../../sql/throttles.js';
import { type Connection, emptyLog, inAsyncTransaction, inSavepoint } from '../connection.js';
import { CounterDeltas } from '../counters/counter-deltas.js';
import { SQLITE } from '../dialect.js';
import { storeError } from '../errors.js';
import { prepareVersionCheck, rewriteVersion } from '../migrations/migrate.js';
import { Statements } from '../statements.js';
import { runUserStatement } from '../user-tables.js';
import type { Operation } from './operations.js';
import { Cleaner } from './purge.js';
import { SqliteQueryChanges } from './query-changes.js';
import { Recording } from './recording.js';

export class Writer {
  readonly #db: Connection;
  readonly #statements: Statements;
  readonly #recording: Recording;
  readonly #directory: SqlDirectoryChanges;
  readonly #throttles: SqlThrottleChanges;
  readonly #ingestion: SqlIngestionChanges;
  readonly #notifications: SqlNotificationChanges;
  readonly #cleaner: Cleaner;
  readonly #requireNewest: () => void;

  constructor(db: Connection) {
    const statements = new Statements(db);
    this.#db = db;
    this.#statements = statements;
    this.#recording = new Recording(db, statements);
    this.#directory = new SqlDirectoryChanges(statements, SQLITE);
    this.#throttles = new SqlThrottleChanges(statements, SQLITE);
    this.#ingestion = new SqlIngestionChanges(statements, SQLITE);
    this.#notifications = new SqlNotificationChanges(statements, SQLITE);
    this.#cleaner = new Cleaner(statements);
    this.#requireNewest = prepareVersionCheck(db);
  }

  /**
   * Runs the operations in order in one transaction, which is durable when this resolves. An operation that throws a
   * `CallerStatsError` has changed nothing, and the others still run; any other error undoes all of them. `unavailable`, and
   * nothing is done, once the schema is another one.
   *
   * Awaits only statements, which return at once, so the thread handles no other message in between.
   */
  async commit(operations: readonly Operation[]): Promise<Outcome<unknown>[]> {
    try {
      const outcomes = await inAsyncTransaction(this.#db, async () => {
        // A newer program may have migrated the file, and count what this one does not know.
        this.#requireNewest();
        const deltas = new CounterDeltas();
        const results: Outcome<unknown>[] = [];
        this.#recording.forget();
        for (const operation of operations) {
          if (operation.kind !== 'record') this.#recording.forget();
          try {
            results.push({ ok: true, value: await this.#run(operation, deltas) });
          } catch (error) {
            if (!(error instanceof CallerStatsError)) throw error;
            results.push(refused(error));
          }
        }
        this.#recording.addToCounters(deltas);
        return results;
      });
      // Impossible within a transaction.
      return outcomes.map((outcome, at) =>
        operations[at]?.kind === 'emptyLog' ? { ok: true, value: emptyLog(this.#db) } : outcome,
      );
    } catch (error) {
      throw storeError(error);
    }
  }

  #run(operation: Operation, deltas: CounterDeltas): unknown {
    switch (operation.kind) {
      case 'directory':
        // In a savepoint, because a rule may refuse a change after some of its statements.
        return inSavepoint(this.#db, async () => call(this.#directory, operation.method, operation.args));
      case 'throttles':
        return call(this.#throttles, operation.method, operation.args);
      case 'identities':
        return inSavepoint(this.#db, async () => {
          const changes = new SqliteQueryChanges(this.#statements, deltas);
          const identities = new SqlIdentityChanges(this.#statements, SQLITE, changes);
          return call<Identities, typeof operation.method>(identities, operation.method, operation.args);
        });
      case 'ingestion':
        return call(this.#ingestion, operation.method, operation.args);
      case 'notifications':
        return inSavepoint(this.#db, async () => call(this.#notifications, operation.method, operation.args));
      case 'corrections':
        return inSavepoint(this.#db, async () => {
          const changes = new SqliteQueryChanges(this.#statements, deltas);
          const corrections = new SqlCorrectionChanges(this.#statements, SQLITE, changes);
          return call<CorrectionChanges, typeof operation.method>(
            corrections,
            operation.method,
            operation.args,
          );
        });
      case 'record':
        return this.#recording.record(operation, deltas);
      case 'importCounts':
        return this.#recording.importCounts(operation, deltas);
      case 'userStatement':
        return runUserStatement(this.#db, operation);
      case 'tryCommit':
        return rewriteVersion(this.#db);
      case 'emptyLog':
        return undefined;
      case 'purgeDeleted':
        return this.#cleaner.purgeDeleted(operation.limit);
      case 'applyRetention':
        return this.#cleaner.applyRetention(operation.nowMs, operation.limit);
    }
  }
}
