/** Makes all changes of the file. Runs on the writer thread. */
import { CallerStatsError } from '../../../domain/errors.js';
import { type Outcome, refused } from '../../commit-queue.js';
import type { CorrectionChanges } from '../../ports/corrections.js';
import type { RecordResult } from '../../ports/counts.js';
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
import { type Prepared, prepareArrays, Statements } from '../statements.js';
import { runUserStatement } from '../user-tables.js';
import { splitBatch } from './merged-recordings.js';
import type { Operation, RecordBatch } from './operations.js';
import { Cleaner } from './purge.js';
import { SqliteQueryChanges } from './query-changes.js';
import { Recording } from './recording.js';

type Other = Exclude<Operation, { readonly kind: 'record' }>;

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
  readonly #readVersion: Prepared<readonly [number]>;
  #version: number | undefined;

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
    this.#readVersion = prepareArrays(db, 'PRAGMA data_version');
  }

  /** Identifies the state of everything in the file except queries. It changes when anything else changes, whoever changes it. */
  get stamp(): string {
    return this.#recording.stamp;
  }

  /**
   * Runs the operations in order in one transaction, which is durable when this resolves. Returns an outcome for each, and for each
   * recording of a batch. What throws a `CallerStatsError` has changed nothing, and the others still run; any other error undoes all
   * of them. `unavailable`, and nothing is done, once the schema is another one.
   *
   * Awaits only statements, which return at once, so the thread handles no other message in between.
   */
  async commit(operations: readonly Operation[]): Promise<Outcome<unknown>[]> {
    let { stamp } = this;
    try {
      const outcomes = await inAsyncTransaction(this.#db, async () => {
        this.#noticeOthers();
        ({ stamp } = this);
        const deltas = new CounterDeltas();
        const results: Outcome<unknown>[][] = [];
        for (const operation of operations) {
          if (operation.kind === 'record') results.push(this.#record(operation, deltas));
          else results.push([await this.#outcomeOf(operation, deltas)]);
        }
        this.#recording.addToCounters(deltas);
        return results;
      });
      // Impossible within a transaction.
      return outcomes.flatMap((some, at) =>
        operations[at]?.kind === 'emptyLog' ? [{ ok: true, value: emptyLog(this.#db) }] : some,
      );
    } catch (error) {
      this.#recording.undo(stamp);
      throw storeError(error);
    }
  }

  /** Other connections change the number when they commit; this one does not. */
  #noticeOthers(): void {
    const version = this.#readVersion.get()?.[0];
    if (version === this.#version) return;
    // A newer program may have migrated the file, and count what this one does not know.
    this.#requireNewest();
    this.#recording.forget();
    this.#version = version;
  }

  /** The outcomes of the recordings of a batch. If one is refused, all of them run one by one. */
  #record(batch: RecordBatch, deltas: CounterDeltas): Outcome<RecordResult | 'outdated'>[] {
    try {
      return this.#recording.record(batch, deltas);
    } catch (error) {
      if (!(error instanceof CallerStatsError)) throw error;
      const [first, ...others] = splitBatch(batch);
      if (first === undefined || others.length === 0) return [refused(error)];
      return [first, ...others].flatMap((one) => this.#record(one, deltas));
    }
  }

  async #outcomeOf(operation: Other, deltas: CounterDeltas): Promise<Outcome<unknown>> {
    this.#recording.forget();
    try {
      return { ok: true, value: await this.#run(operation, deltas) };
    } catch (error) {
      if (error instanceof CallerStatsError) return refused(error);
      throw error;
    }
  }

  #run(operation: Other, deltas: CounterDeltas): unknown {
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
