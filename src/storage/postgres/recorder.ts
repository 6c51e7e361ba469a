/** Recording into PostgreSQL: one call of one project at a time, shared by all requests that came meanwhile. */

import { oldQueriesError } from '../../domain/projects/retention.js';
import type { Query } from '../../domain/queries/query.js';
import { Backlog, CommitQueue, type Outcome } from '../commit-queue.js';
import type { RecordResult } from '../ports/store.js';
import type { CommitObserver } from '../ports/store-stats.js';
import { unavailable } from './errors.js';
import { encodeQueryId } from './query-id.js';

/** Queries of one project, distinct by id, by columns: arrays as PostgreSQL writes them. */
export interface RecordCall {
  readonly projectId: string;
  /** `bytea[]` of the bytes of `query-id.ts`. */
  readonly ids: string;
  /** `bigint[]`, milliseconds. */
  readonly times: string;
  /** `text[]`. */
  readonly callers: string;
}

/**
 * The places (from 1) of the queries whose id was there already; null where there is no such project; the time from when
 * on it has rows where nothing was recorded, because some are from before it.
 */
export type RecordAnswer = readonly number[] | { readonly rowsFrom: number } | null;

export type RecordFunction = (call: RecordCall) => Promise<RecordAnswer>;

interface Batch {
  readonly queries: readonly Query[];
  /** Aborted when nobody waits for it any more: then it is left out, for its sender was told to come back. */
  readonly signal: AbortSignal;
}

/** Beyond so many, queues that have nothing to do are forgotten. */
const queuesKept = 1000;

/**
 * One queue a project. Requests of one project share a call, because calls of one project would wait for each other
 * at its counters; calls of different projects run side by side, and never share a transaction.
 */
export class Recorder {
  readonly #record: RecordFunction;
  readonly #backlog = new Backlog();
  readonly #queues = new Map<string, CommitQueue<Batch, RecordResult>>();
  readonly #observer: CommitObserver | undefined;
  #closed = false;

  constructor(record: RecordFunction, observer?: CommitObserver) {
    this.#record = record;
    this.#observer = observer;
  }

  /** Of all projects. */
  get pending(): Backlog['pending'] {
    return this.#backlog.pending;
  }

  /** See `Store.record`. */
  record(projectId: string, batch: Batch): Promise<RecordResult> {
    return this.#queueOf(projectId).submit(batch);
  }

  /** Refuses what comes after, and resolves when all that was accepted has settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #queueOf(projectId: string): CommitQueue<Batch, RecordResult> {
    if (this.#closed) throw unavailable('The store is closing.');
    const known = this.#queues.get(projectId);
    if (known !== undefined) return known;
    if (this.#queues.size >= queuesKept) this.#forgetIdle();
    const queue = new CommitQueue<Batch, RecordResult>({
      commit: (batches) => this.#commit(projectId, batches),
      weigh: ({ queries }) => Math.max(queries.length, 1),
      backlog: this.#backlog,
      observer: this.#observer,
    });
    this.#queues.set(projectId, queue);
    return queue;
  }

  #forgetIdle(): void {
    for (const [projectId, queue] of this.#queues) if (queue.idle) this.#queues.delete(projectId);
  }

  async #commit(projectId: string, batches: readonly Batch[]): Promise<Outcome<RecordResult>[]> {
    const outcomes = new Map<Batch, Outcome<RecordResult>>();
    for (const batch of batches) {
      if (batch.signal.aborted)
        outcomes.set(batch, { ok: false, code: 'unavailable', message: 'It waited too long to be written.' });
    }
    // Again without those that are refused: the others have nothing to do with them.
    while (outcomes.size < batches.length) {
      const waiting = batches.filter((batch) => !outcomes.has(batch));
      const settled = await this.#commitTogether(projectId, waiting);
      for (const [batch, outcome] of settled) outcomes.set(batch, outcome);
      if (settled.size === 0) throw new Error('a call was refused for no batch of it');
    }
    return batches.map((batch) => outcomes.get(batch)).filter((outcome) => outcome !== undefined);
  }

  /** The outcomes of all batches; where some are refused, only of these. */
  async #commitTogether(
    projectId: string,
    batches: readonly Batch[],
  ): Promise<Map<Batch, Outcome<RecordResult>>> {
    const firsts = firstsOf(batches);
    const queries = firsts.map(({ query }) => query);
    const answer = await this.#record(callOf(projectId, queries));
    if (answer === null) {
      const message = `There is no project ${projectId}.`;
      return new Map(batches.map((batch) => [batch, { ok: false, code: 'not_found', message }]));
    }
    return 'rowsFrom' in answer ? refused(batches, answer.rowsFrom) : recorded(batches, firsts, answer);
  }
}

/** A query, and the batch that brought it first: the others with its id are duplicates of it. */
interface First {
  readonly query: Query;
  readonly batch: Batch;
}

/** The first of each id. */
function firstsOf(batches: readonly Batch[]): First[] {
  const firsts = new Map<string, First>();
  for (const batch of batches) {
    for (const query of batch.queries) if (!firsts.has(query.id)) firsts.set(query.id, { query, batch });
  }
  return [...firsts.values()];
}

/** What becomes of batches of whose first queries those at `duplicates` (from 1) were there already. */
function recorded(
  batches: readonly Batch[],
  firsts: readonly First[],
  duplicates: readonly number[],
): Map<Batch, Outcome<RecordResult>> {
  const counts = new Map(batches.map((batch) => [batch, 0]));
  for (const { batch } of firsts) counts.set(batch, (counts.get(batch) ?? 0) + 1);
  for (const place of duplicates) {
    const batch = firsts[place - 1]?.batch;
    if (batch !== undefined) counts.set(batch, (counts.get(batch) ?? 0) - 1);
  }
  return new Map(
    [...counts].map(([batch, count]) => [
      batch,
      { ok: true, value: { recorded: count, duplicates: batch.queries.length - count } },
    ]),
  );
}

/** What becomes of the batches that have queries from before a time. */
function refused(batches: readonly Batch[], rowsFrom: number): Map<Batch, Outcome<RecordResult>> {
  const outcomes = new Map<Batch, Outcome<RecordResult>>();
  for (const batch of batches) {
    const ids = batch.queries.map(({ id }) => id);
    const times = batch.queries.map(({ occurredAt }) => occurredAt);
    const refusal = oldQueriesError(ids, times, rowsFrom);
    if (refusal === undefined) continue;
    const { code, message, details } = refusal;
    outcomes.set(batch, { ok: false, code, message, details });
  }
  return outcomes;
}

/** What the statement `record` is given. */
export function valuesOf({ projectId, ids, times, callers }: RecordCall): string[] {
  return [projectId, ids, times, callers];
}

function callOf(projectId: string, queries: readonly Query[]): RecordCall {
  return {
    projectId,
    ids: arrayOf(queries, ({ id }) => `"\\\\x${encodeQueryId(id)}"`),
    times: arrayOf(queries, ({ occurredAt }) => String(occurredAt)),
    // In quotes, for a caller may be called null. There is nothing in a caller's name that would have to be escaped.
    callers: arrayOf(queries, ({ caller }) => `"${caller}"`),
  };
}

/** An array literal (postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function arrayOf(queries: readonly Query[], element: (query: Query) => string): string {
  return `{${queries.map(element).join(',')}}`;
}
