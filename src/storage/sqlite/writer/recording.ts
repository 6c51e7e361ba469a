/** Records queries, imports counts, and adds both to the counters, within the transaction that is open. */
import { threadId } from 'node:worker_threads';
import {
  type ArrivingCount,
  type Conflict,
  conflictError,
  contradicts,
  distinctCounts,
} from '../../../domain/counting/imported-count.js';
import { CallerStatsError } from '../../../domain/errors.js';
import { type ImportRange, importsOfCounts } from '../../../domain/history/import-range.js';
import { oldQueriesError } from '../../../domain/projects/retention.js';
import { callerType } from '../../../domain/queries/caller.js';
import type { Receipt } from '../../../domain/queries/receipt.js';
import { BoundedCache } from '../../../shared/bounded-cache.js';
import type { Outcome } from '../../commit-queue.js';
import type { RecordResult } from '../../ports/counts.js';
import { callerNumber } from '../caller-number.js';
import type { Connection } from '../connection.js';
import { type CounterDeltas, TYPE_INDEX } from '../counters/counter-deltas.js';
import type { Statements } from '../statements.js';
import { CALLER_COUNTERS, CounterInsert, TYPE_COUNTERS } from './counter-insert.js';
import { MomentInsert } from './moment-insert.js';
import type { ImportBatch, RecordBatch } from './operations.js';
import { QueryInsert } from './query-insert.js';

/** Rows whose values are prepared at once. More take memory and save nothing. */
const rowsBoundAtOnce = 1_024;

interface RecordedProject {
  readonly number: number;
  readonly rowsFrom: number | null;
  /** Receipts up to this number get no further queries. */
  readonly receiptFence: number;
  /** The numbers of receipts, by day and sender. */
  readonly receipts: BoundedCache<string, number>;
}

interface FoundCaller {
  readonly number: number;
  /** See `TYPE_INDEX`. */
  readonly type: number;
}

/** What is kept of each kind: projects, receipts of each, and callers. */
const foundMax = 1000;

/** Counts the stamps of this thread, so that no two of a server are equal. */
let stamps = 0;

const nextStamp = (): string => `${threadId} ${++stamps}`;

class Found {
  readonly stamp: string;
  readonly projects = new BoundedCache<string, RecordedProject>(foundMax);
  readonly callers = new BoundedCache<string, FoundCaller>(foundMax);

  constructor(stamp = nextStamp()) {
    this.stamp = stamp;
  }
}

export class Recording {
  readonly #statements: Statements;
  readonly #queries: QueryInsert;
  readonly #types: CounterInsert;
  readonly #callers: CounterInsert;
  readonly #moments: MomentInsert;
  /** What recordings have looked up. */
  #found = new Found();

  constructor(db: Connection, statements: Statements) {
    this.#statements = statements;
    this.#queries = new QueryInsert(db);
    this.#types = new CounterInsert(db, TYPE_COUNTERS);
    this.#callers = new CounterInsert(db, CALLER_COUNTERS);
    this.#moments = new MomentInsert(db);
  }

  /** Changes each time that `forget` is called. */
  get stamp(): string {
    return this.#found.stamp;
  }

  /** Call it when anything but a recording has changed the file, or may have. */
  forget(): void {
    this.#found = new Found();
  }

  /** Call it when a transaction was rolled back, with the stamp of its beginning: the file is as it was then. */
  undo(stamp: string): void {
    this.#found = new Found(stamp);
  }

  /**
   * Inserts the queries that are new, and notes in `deltas` what they add to the counters. Returns an outcome for each recording of the
   * batch. Of equal ids, the first counts.
   */
  record(batch: RecordBatch, deltas: CounterDeltas): Outcome<RecordResult | 'outdated'>[] {
    const { projectId, ids, callers, occurredAt, receipts = [], receiptOf, imports = [] } = batch;
    const { sizes = [ids.length], stamp } = batch;
    if (stamp !== undefined && stamp !== this.stamp) return sizes.map(() => OUTDATED);
    const opened = this.#found.projects.getOrCreate(projectId, () => this.#findProject(projectId));
    const { number: project, rowsFrom } = opened;
    const recordings = recordingsOf(sizes);
    const tooOld = oldQueriesError(ids, occurredAt, rowsFrom, recordings);
    if (tooOld !== undefined) throw tooOld;
    const recorded = sizes.map(() => 0);
    const order = inOrderOfIds(ids);
    const receiptNumbers =
      ids.length === 0
        ? []
        : receipts.map((one) =>
            opened.receipts.getOrCreate(`${one.day} ${one.sender}`, () => this.#receiptNumber(opened, one)),
          );
    for (let from = 0; from < order.length; from += rowsBoundAtOnce) {
      const indexes = order.slice(from, from + rowsBoundAtOnce);
      const values: unknown[] = [];
      const found: FoundCaller[] = [];
      for (const index of indexes) {
        const caller = this.#findCaller(required(callers[index], 'a batch has a caller for each of its ids'));
        const timeMs = required(occurredAt[index], 'a batch has a time for each of its ids');
        const id = required(ids[index], 'the order has indexes of ids only');
        const receipt = receiptNumbers[receiptOf === undefined ? 0 : (receiptOf[index] ?? -1)];
        found.push(caller);
        values.push(project, id, timeMs, caller.number, receipt ?? null);
      }
      this.#queries.insert(values, (row) => {
        const index = indexes[row] as number;
        const { number, type } = found[row] as FoundCaller;
        deltas.add(project, occurredAt[index] as number, type, number);
        const recording = recordings[index] as number;
        recorded[recording] = (recorded[recording] as number) + 1;
      });
    }
    if (recorded.some((queries) => queries > 0)) this.#noteImports(project, imports);
    return sizes.map((size, at) => toOutcome(size, recorded[at] ?? 0));
  }

  /** Inserts the counts that are new, and notes in `deltas` what they add to the counters. See `CountStore.importCounts`. */
  importCounts({ projectId, counts, dryRun, day }: ImportBatch, deltas: CounterDeltas): RecordResult {
    const { number: project } = this.#findProject(projectId);
    const added: ArrivingCount[] = [];
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
    if (!dryRun) {
      for (const one of added) this.#insertCount(project, { ...one, day: one.day ?? day }, deltas);
      this.#noteImports(project, importsOfCounts(added, day));
    }
    return { recorded: added.length, duplicates: counts.length - added.length };
  }

  #noteImports(project: number, imports: readonly ImportRange[]): void {
    for (const { day, sender, first, last } of imports) {
      this.#statements.run(
        `INSERT INTO import_range (project, day, sender, first_at, last_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT DO UPDATE SET first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)`,
        [project, day, sender, first, last],
      );
    }
  }

  #insertCount(
    project: number,
    { source, caller, start, end, count, day }: ArrivingCount,
    deltas: CounterDeltas,
  ): void {
    const number = callerNumber(this.#statements, caller);
    this.#statements.run(
      'INSERT INTO imported_count (project, source, caller, start_at, end_at, queries, day) VALUES ($1, $2, $3, $4, $5, $6, $7)',
      [project, source, number, start, end, count, day ?? null],
    );
    if (count > 0) deltas.add(project, start, TYPE_INDEX[callerType(caller)], number, count);
  }

  /** Writes each counter once for all batches of the transaction. */
  addToCounters(deltas: CounterDeltas): void {
    for (const part of deltas.rows((project, recorded) => this.#moments.place(project, recorded))) {
      if (deltas.removes) {
        this.#removeZeros('query_counter', ['level', 'bucket'], this.#types.change(part));
        this.#removeZeros('caller_counter', ['level', 'bucket', 'caller'], this.#callers.change(part));
      } else {
        this.#types.add(part);
        this.#callers.add(part);
      }
    }
  }

  /** Removes counters that have become zero: the extent and the callers of a project are those that have queries. */
  #removeZeros(table: string, columns: readonly string[], rows: readonly (readonly unknown[])[]): void {
    const key = columns.map((column, at) => `${column} = $${at + 2}`).join(' AND ');
    for (const [sum, ...values] of rows)
      if (sum === 0) this.#statements.run(`DELETE FROM ${table} WHERE project = $1 AND ${key}`, values);
  }

  #findCaller(name: string): FoundCaller {
    return this.#found.callers.getOrCreate(name, () => ({
      number: callerNumber(this.#statements, name),
      type: TYPE_INDEX[callerType(name)],
    }));
  }

  #findProject(id: string): RecordedProject {
    const found = this.#statements.get<Omit<RecordedProject, 'receipts'>>(
      'SELECT number, rows_from AS rowsFrom, coalesce(receipt_fence, 0) AS receiptFence FROM project WHERE id = $1',
      [id],
    );
    if (found === undefined) throw new CallerStatsError('not_found', `There is no project ${id}.`);
    // Not `{ ...found, receipts }`, to which the V8 of Node 20 gives a shape of its own each time.
    const { number, rowsFrom, receiptFence } = found;
    return { number, rowsFrom, receiptFence, receipts: new BoundedCache(foundMax) };
  }

  /** The number of a receipt, assigned with its first query, and again with the first one after a correction. */
  #receiptNumber({ number: project, receiptFence }: RecordedProject, { day, sender }: Receipt): number {
    const find = (sql: string, ...more: readonly number[]) =>
      this.#statements.get<{ readonly number: number | null }>(sql, [project, day, sender, ...more])?.number;
    return required(
      find(
        'SELECT max(number) AS number FROM receipt WHERE project = $1 AND day = $2 AND sender = $3 AND number > $4',
        receiptFence,
      ) ??
        find(
          `INSERT INTO receipt (project, number, day, sender)
           SELECT $1, coalesce(max(number), 0) + 1, $2, $3 FROM receipt WHERE project = $1 RETURNING number`,
        ) ??
        undefined,
      'an inserted receipt has a number',
    );
  }
}

/** The index of the recording of each query. */
function recordingsOf(sizes: readonly number[]): readonly number[] {
  const recordings: number[] = [];
  for (const [recording, size] of sizes.entries())
    for (let query = 0; query < size; query++) recordings.push(recording);
  return recordings;
}

/** Most recordings have one query, which is new. One object for all of them costs less to send between threads. */
const ONE_NEW: Outcome<RecordResult> = { ok: true, value: { recorded: 1, duplicates: 0 } };
const OUTDATED: Outcome<'outdated'> = { ok: true, value: 'outdated' };

function toOutcome(queries: number, recorded: number): Outcome<RecordResult> {
  if (queries === 1 && recorded === 1) return ONE_NEW;
  return { ok: true, value: { recorded, duplicates: queries - recorded } };
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

/** The value; throws if it is missing, so that nothing is counted on a guess. */
function required<Value>(value: Value | undefined, invariant: string): Value {
  if (value === undefined) throw new Error(`Invariant violated: ${invariant}.`);
  return value;
}
