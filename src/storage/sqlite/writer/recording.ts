/** Records queries and adds them to the counters, within the transaction that is open. */
import { CallerStatsError } from '../../../domain/errors.js';
import { oldQueriesError } from '../../../domain/projects/retention.js';
import { CALLER_TYPES, callerType } from '../../../domain/queries/caller.js';
import type { RecordResult } from '../../ports/counts.js';
import type { Connection } from '../connection.js';
import { type CounterDeltas, TYPE_INDEX } from '../counters/counter-deltas.js';
import { encodeQueryId } from '../query-id.js';
import type { Statements } from '../statements.js';
import { MultiRowInsert } from './multi-row.js';
import type { RecordBatch } from './operations.js';
import { QueryInsert } from './query-insert.js';

export class Recording {
  readonly #statements: Statements;
  readonly #queries: QueryInsert;
  readonly #addToTypes: MultiRowInsert;
  readonly #addToCallers: MultiRowInsert;

  constructor(db: Connection, statements: Statements) {
    this.#statements = statements;
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

  /** Inserts the queries that are new, and notes in `deltas` what they add to the counters. */
  record({ projectId, ids, callers, occurredAt }: RecordBatch, deltas: CounterDeltas): RecordResult {
    const found = this.#statements.get<{ readonly number: number; readonly rowsFrom: number | null }>(
      'SELECT number, rows_from AS rowsFrom FROM project WHERE id = $1',
      [projectId],
    );
    if (found === undefined) throw new CallerStatsError('not_found', `There is no project ${projectId}.`);
    const tooOld = oldQueriesError(ids, occurredAt, found.rowsFrom);
    if (tooOld !== undefined) throw tooOld;
    const project = found.number;
    const numbersByCaller = new Map<string, number>();
    const typesByNumber = new Map<number, number>();
    const values: unknown[] = [];
    for (const [index, id] of ids.entries()) {
      const caller = required(callers[index], 'a batch has a caller for each of its ids');
      const timeMs = required(occurredAt[index], 'a batch has a time for each of its ids');
      let number = numbersByCaller.get(caller);
      if (number === undefined) {
        number = this.#callerNumber(caller);
        numbersByCaller.set(caller, number);
        typesByNumber.set(number, TYPE_INDEX[callerType(caller)]);
      }
      values.push(project, encodeQueryId(id), timeMs, number);
    }
    let recorded = 0;
    this.#queries.insert(values, (timeMs, caller) => {
      const type = required(typesByNumber.get(caller), 'a recorded query has a caller of its batch');
      deltas.add(project, timeMs, type, caller);
      recorded++;
    });
    return { recorded, duplicates: ids.length - recorded };
  }

  /** Writes each counter once for all batches of the transaction. */
  addToCounters(deltas: CounterDeltas): void {
    const { types, callers } = deltas.rows();
    this.#addToTypes.insert(types);
    this.#addToCallers.insert(callers);
  }

  /** The number of a caller, assigned with its first query. */
  #callerNumber(name: string): number {
    const find = (sql: string) => this.#statements.get<{ readonly number: number }>(sql, [name]);
    const row =
      find('SELECT number FROM caller WHERE name = $1') ??
      find('INSERT INTO caller (name) VALUES ($1) RETURNING number');
    return required(row, 'an inserted caller has a number').number;
  }
}

/** The value; throws if it is missing, so that nothing is counted on a guess. */
function required<Value>(value: Value | undefined, invariant: string): Value {
  if (value === undefined) throw new Error(`Invariant violated: ${invariant}.`);
  return value;
}
