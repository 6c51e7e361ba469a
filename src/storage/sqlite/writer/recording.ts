/** Records queries, imports counts, and adds both to the counters, within the transaction that is open. */
import {
  type Conflict,
  conflictError,
  contradicts,
  distinctCounts,
  type ImportedCount,
} from '../../../domain/counting/imported-count.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { oldQueriesError } from '../../../domain/projects/retention.js';
import { CALLER_TYPES, callerType } from '../../../domain/queries/caller.js';
import { type Outcome, refused } from '../../commit-queue.js';
import type { RecordResult } from '../../ports/counts.js';
import type { Connection } from '../connection.js';
import { type CounterDeltas, TYPE_INDEX } from '../counters/counter-deltas.js';
import { encodeQueryId } from '../query-id.js';
import type { Statements } from '../statements.js';
import { batchesOf } from './merged-batches.js';
import { MultiRowInsert } from './multi-row.js';
import type { ImportBatch, RecordBatch } from './operations.js';
import { columns, QueryInsert } from './query-insert.js';

/** Rows whose values are prepared at once. More take memory and save nothing. */
const rowsBoundAtOnce = 1_024;

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

  /**
   * Inserts the queries that are new, and notes in `deltas` what they add to the counters. Returns an outcome for each of the
   * merged batches: one that is refused changes nothing. Of equal ids, the first counts.
   */
  record(batch: RecordBatch, deltas: CounterDeltas): Outcome<RecordResult>[] {
    const { projectId, ids, sizes = [ids.length] } = batch;
    const found = this.#findProject(projectId);
    if (found === undefined) return sizes.map(() => refused(noProject(projectId)));
    const { number: project, rowsFrom } = found;
    const batches = batchesOf(batch);
    const refusals = refuseOld(batch, rowsFrom);
    const order = inOrderOfIds(ids).filter((index) => refusals[batches[index] ?? 0] === undefined);
    const callers = new CallerNumbers((name) => this.#callerNumber(name));
    const recorded = sizes.map(() => 0);
    const onNew = (at: number, timeMs: number, caller: number) => {
      deltas.add(project, timeMs, callers.typeOf(caller), caller);
      recorded[at] = (recorded[at] ?? 0) + 1;
    };
    for (let from = 0; from < order.length; from += rowsBoundAtOnce) {
      const indexes = order.slice(from, from + rowsBoundAtOnce);
      this.#insert(indexes, batches, (some) => toRows(some, project, batch, callers), onNew);
    }
    return sizes.map((size, at) => {
      const refusal = refusals[at];
      if (refusal !== undefined) return refused(refusal);
      const number = recorded[at] ?? 0;
      return { ok: true, value: { recorded: number, duplicates: size - number } };
    });
  }

  /** Calls `onNew` for each new query, with its batch, time and caller. */
  #insert(
    indexes: readonly number[],
    batches: Uint32Array,
    rowsOf: (indexes: readonly number[]) => readonly unknown[],
    onNew: (batch: number, timeMs: number, caller: number) => void,
  ): void {
    const rows = rowsOf(indexes);
    const inserted = this.#queries.insertNew(rows);
    for (let row = 0; row < inserted; row++) {
      const [, , timeMs, caller] = rows.slice(row * columns, (row + 1) * columns);
      onNew(batches[indexes[row] ?? 0] ?? 0, Number(timeMs), Number(caller));
    }
    const rest = indexes.slice(inserted);
    // A statement returns its new rows in any order, so each batch has its own statements.
    for (const batch of new Set(rest.map((index) => batches[index] ?? 0).sort((a, b) => a - b))) {
      const own = rest.filter((index) => batches[index] === batch);
      for (const [timeMs, caller] of this.#queries.insertUnknown(rowsOf(own)))
        onNew(batch, Number(timeMs), Number(caller));
    }
  }

  /** Inserts the counts that are new, and notes in `deltas` what they add to the counters. See `Store.importCounts`. */
  importCounts({ projectId, counts, dryRun }: ImportBatch, deltas: CounterDeltas): RecordResult {
    const project = this.#findProject(projectId)?.number;
    if (project === undefined) throw noProject(projectId);
    const added: ImportedCount[] = [];
    const conflicts: Conflict[] = [];
    for (const sent of distinctCounts(counts)) {
      // Of one source and caller no spans overlap, so only the last one that starts before the end can overlap it.
      const present = this.#statements.get<Conflict['present']>(
        `SELECT start_at AS start, end_at AS "end", queries AS count FROM imported_count
         WHERE project = $1 AND source = $2 AND caller = (SELECT number FROM caller WHERE name = $3) AND start_at < $4
         ORDER BY start_at DESC LIMIT 1`,
        [project, sent.source, sent.caller, sent.end],
      );
      if (present === undefined || present.end <= sent.start) added.push(sent);
      else if (contradicts(sent, present)) conflicts.push({ sent, present });
    }
    // Before anything is written: a refused operation must change nothing.
    if (conflicts.length > 0) throw conflictError(conflicts);
    if (!dryRun) for (const count of added) this.#insertCount(project, count, deltas);
    return { recorded: added.length, duplicates: counts.length - added.length };
  }

  #insertCount(project: number, { source, caller, start, end, count }: ImportedCount, deltas: CounterDeltas) {
    const number = this.#callerNumber(caller);
    this.#statements.run(
      'INSERT INTO imported_count (project, source, caller, start_at, end_at, queries) VALUES ($1, $2, $3, $4, $5, $6)',
      [project, source, number, start, end, count],
    );
    if (count > 0) deltas.add(project, start, TYPE_INDEX[callerType(caller)], number, count);
  }

  /** Writes each counter once for all batches of the transaction. */
  addToCounters(deltas: CounterDeltas): void {
    for (const { types, callers } of deltas.rows()) {
      this.#addToTypes.insert(types);
      this.#addToCallers.insert(callers);
    }
  }

  #findProject(id: string): { readonly number: number; readonly rowsFrom: number | null } | undefined {
    return this.#statements.get('SELECT number, rows_from AS rowsFrom FROM project WHERE id = $1', [id]);
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

/**
 * The indexes of `ids`, sorted like the keys of the table, so that a large batch with random ids writes each page once. The
 * first of several equal ids stays first, because it is the one that counts.
 */
function inOrderOfIds(ids: readonly string[]): readonly number[] {
  const order = [...ids.keys()];
  if (ids.every((id, at) => at === 0 || (ids[at - 1] ?? '') <= id)) return order;
  return order.sort((a, b) => compare(ids[a] ?? '', ids[b] ?? ''));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function noProject(id: string): CallerStatsError {
  return new CallerStatsError('not_found', `There is no project ${id}.`);
}

/** The error of each of the merged batches that has queries from before `rowsFrom`. */
function refuseOld(
  { ids, occurredAt, sizes = [ids.length] }: RecordBatch,
  rowsFrom: number | null,
): (CallerStatsError | undefined)[] {
  if (rowsFrom === null) return [];
  let end = 0;
  return sizes.map((size) => {
    end += size;
    return oldQueriesError(ids.slice(end - size, end), occurredAt.subarray(end - size, end), rowsFrom);
  });
}

/** The rows of some queries of a batch, as `QueryInsert` takes them. */
function toRows(
  indexes: readonly number[],
  project: number,
  { ids, callers, occurredAt }: RecordBatch,
  numbers: CallerNumbers,
): unknown[] {
  const values: unknown[] = [];
  for (const index of indexes) {
    const id = required(ids[index], 'the order has indexes of ids only');
    const caller = required(callers[index], 'a batch has a caller for each of its ids');
    const timeMs = required(occurredAt[index], 'a batch has a time for each of its ids');
    values.push(project, encodeQueryId(id), timeMs, numbers.of(caller));
  }
  return values;
}

/** The numbers and types of the callers of a batch. */
class CallerNumbers {
  readonly #find: (name: string) => number;
  readonly #byName = new Map<string, number>();
  readonly #types = new Map<number, number>();

  constructor(find: (name: string) => number) {
    this.#find = find;
  }

  of(name: string): number {
    let number = this.#byName.get(name);
    if (number === undefined) {
      number = this.#find(name);
      this.#byName.set(name, number);
      this.#types.set(number, TYPE_INDEX[callerType(name)]);
    }
    return number;
  }

  typeOf(number: number): number {
    return required(this.#types.get(number), 'a recorded query has a caller of its batch');
  }
}

/** The value; throws if it is missing, so that nothing is counted on a guess. */
function required<Value>(value: Value | undefined, invariant: string): Value {
  if (value === undefined) throw new Error(`Invariant violated: ${invariant}.`);
  return value;
}
