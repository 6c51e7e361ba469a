/** Everything that changes the file: the only code that does, and it runs on the writer thread. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import { CallerStatsError } from '../../../domain/errors.js';
import { oldQueriesError } from '../../../domain/projects/retention.js';
import { CALLER_TYPES, callerType } from '../../../domain/queries/caller.js';
import type { Outcome } from '../../commit-queue.js';
import type { RecordResult } from '../../ports/store.js';
import { type Connection, emptyLog, inTransaction } from '../connection.js';
import { CounterDeltas, TYPE_INDEX, type TypeIndex } from '../counters/counter-deltas.js';
import { storeError } from '../errors.js';
import { encodeQueryId } from '../query-id.js';
import { Management } from './management.js';
import { MultiRowInsert } from './multi-row.js';
import type { Operation, RecordOperation } from './operations.js';
import { PeopleChanges } from './people-changes.js';
import { Cleaner } from './purge.js';
import { QueryInsert } from './query-insert.js';
import { runThrottleOperation } from './throttles.js';

export class Writer {
  readonly #db: Connection;
  readonly #statements = new Map<string, StatementSyncInstance>();
  readonly #queries: QueryInsert;
  readonly #addToTypes: MultiRowInsert;
  readonly #addToCallers: MultiRowInsert;
  readonly #management = new Management((sql) => this.#prepared(sql));
  readonly #people: PeopleChanges;
  readonly #cleaner = new Cleaner((sql) => this.#prepared(sql));

  constructor(db: Connection) {
    this.#db = db;
    this.#people = new PeopleChanges(db, (sql) => this.#prepared(sql));
    this.#queries = new QueryInsert(db);
    this.#addToTypes = new MultiRowInsert(
      db,
      `INSERT INTO type_counter (project, level, bucket, ${CALLER_TYPES.join(', ')})`,
      3 + CALLER_TYPES.length,
      `ON CONFLICT DO UPDATE SET ${CALLER_TYPES.map((type) => `${type} = ${type} + excluded.${type}`).join(', ')}`,
    );
    this.#addToCallers = new MultiRowInsert(
      db,
      'INSERT INTO caller_counter (project, level, bucket, caller, queries)',
      5,
      'ON CONFLICT DO UPDATE SET queries = queries + excluded.queries',
    );
  }

  /**
   * Runs the operations in order in one transaction, durable when this returns. An operation that is refused
   * (`not_found`, `already_exists`) has changed nothing and the others go on; any other error undoes them all.
   */
  commit(operations: readonly Operation[]): Outcome<unknown>[] {
    try {
      const outcomes = inTransaction(this.#db, () => {
        const deltas = new CounterDeltas();
        const results = operations.map((operation) => this.#attempt(operation, deltas));
        const { types, callers } = deltas.rows();
        this.#addToTypes.insert(types);
        this.#addToCallers.insert(callers);
        return results;
      });
      if (this.#cleaner.tookAll()) emptyLog(this.#db);
      return outcomes;
    } catch (error) {
      throw storeError(error);
    }
  }

  #attempt(operation: Operation, deltas: CounterDeltas): Outcome<unknown> {
    try {
      return { ok: true, value: this.#run(operation, deltas) };
    } catch (error) {
      if (!(error instanceof CallerStatsError)) throw error;
      return { ok: false, code: error.code, message: error.message, details: error.details };
    }
  }

  #run(operation: Operation, deltas: CounterDeltas): unknown {
    switch (operation.kind) {
      case 'record':
        return this.#record(operation, deltas);
      case 'touchKey':
        return this.#touchKey(operation.keyId, operation.usedAt);
      case 'pruneAudit':
        return Number(this.#prepared('DELETE FROM audit WHERE at < ?').run(operation.before).changes);
      case 'purgeDeleted':
        return this.#cleaner.purgeDeleted(operation.limit);
      case 'applyRetention':
        return this.#cleaner.applyRetention(operation.nowMs, operation.limit);
      case 'createInvitation':
      case 'revokeInvitation':
      case 'acceptInvitation':
      case 'acceptInvitationsOf':
      case 'logUserChange':
      case 'keepSecret':
      case 'userStatement':
        return this.#people.run(operation);
      case 'takeAttempt':
      case 'giveBackAttempt':
      case 'resetAttempts':
        return runThrottleOperation((sql) => this.#prepared(sql), operation);
      default:
        return this.#management.run(operation);
    }
  }

  #record({ projectId, ids, callers, occurredAt }: RecordOperation, deltas: CounterDeltas): RecordResult {
    const found = this.#prepared('SELECT number, rows_from AS rowsFrom FROM project WHERE id = ?').get(
      projectId,
    );
    if (found === undefined) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    const refusal = oldQueriesError(ids, occurredAt, found.rowsFrom);
    if (refusal !== undefined) throw refusal;
    const project = found.number;
    const callerNumbers = new Map<string, number>();
    const typesByNumber = new Map<number, TypeIndex>();
    const values: unknown[] = [];
    for (const [index, id] of ids.entries()) {
      const caller = callers[index] ?? '';
      let callerNumber = callerNumbers.get(caller);
      if (callerNumber === undefined) {
        callerNumber = this.#callerNumber(caller);
        callerNumbers.set(caller, callerNumber);
        typesByNumber.set(callerNumber, TYPE_INDEX[callerType(caller)]);
      }
      values.push(project, encodeQueryId(id), occurredAt[index], callerNumber);
    }
    let recorded = 0;
    this.#queries.insert(values, (timeMs, caller) => {
      deltas.add(project, timeMs, typesByNumber.get(caller) ?? TYPE_INDEX.other, caller);
      recorded++;
    });
    return { recorded, duplicates: ids.length - recorded };
  }

  /** The number of a caller's name, given to it on its first query. */
  #callerNumber(name: string): number {
    const known = this.#prepared('SELECT number FROM caller WHERE name = ?').get(name);
    if (known !== undefined) return known.number;
    return this.#prepared('INSERT INTO caller (name) VALUES (?) RETURNING number').get(name).number;
  }

  #touchKey(keyId: string, usedAt: number): void {
    this.#prepared('UPDATE api_key SET last_used_at = max(coalesce(last_used_at, ?2), ?2) WHERE id = ?1').run(
      keyId,
      usedAt,
    );
  }

  #prepared(sql: string): StatementSyncInstance {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
