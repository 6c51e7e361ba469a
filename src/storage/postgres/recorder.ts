/** Group commit for PostgreSQL: each project has one call of `record` at a time, shared by all requests that wait for it. */
import { oldQueriesError } from '../../domain/projects/retention.js';
import { type ArrivingQuery, type Receipt, ReceiptCollector } from '../../domain/queries/receipt.js';
import { Backlog, CommitQueue, type Outcome, refused } from '../commit-queue.js';
import { OutdatedAccess } from '../ports/counts.js';
import type { AccessProof } from '../ports/directory.js';
import type { RecordResult } from '../ports/store.js';
import type { CommitObserver } from '../ports/store-stats.js';
import { unavailable } from './connection/errors.js';
import { encodeQueryId } from './query-id.js';

/** Queries of one project with distinct ids, as columns: array literals of PostgreSQL. */
export interface RecordCall {
  readonly projectId: string;
  /** `bytea[]`; see `query-id.ts`. */
  readonly ids: string;
  /** `bigint[]`, milliseconds. */
  readonly times: string;
  /** `text[]`. */
  readonly callers: string;
  /** How they arrived: the distinct receipts as `integer[]` and `text[]`, and the place of each query's receipt from 1, or 0. */
  readonly days: string;
  readonly senders: string;
  readonly receiptOf: string;
  /** The id, time, caller, day and sender, if it is one query. */
  readonly only?: readonly unknown[] | undefined;
  /** Nothing is recorded unless all of them hold. */
  readonly proofs?: readonly AccessProof[] | undefined;
}

/**
 * The positions (from 1) of the duplicates. Null if there is no such project. `rowsFrom` if nothing was recorded because some
 * queries are from before that time, `outdated` if some proof does not hold.
 */
export type RecordAnswer = readonly number[] | { readonly rowsFrom: number } | 'outdated' | null;

export type RecordFunction = (call: RecordCall) => Promise<RecordAnswer>;

type Result = RecordResult | 'outdated';

interface Batch {
  readonly queries: readonly ArrivingQuery[];
  /** Of queries without one of their own. */
  readonly receipt?: Receipt | undefined;
  readonly proof?: AccessProof | undefined;
  /** Aborted when the request has timed out. Then the batch is skipped, because its sender was told to retry. */
  readonly signal: AbortSignal;
}

/** With more queues, idle ones are removed. */
const queuesMax = 1000;

/**
 * One queue per project. Calls of one project would wait for each other at its counters, so its requests share calls. Calls
 * of different projects run in parallel, and never share a transaction.
 */
export class Recorder {
  readonly #record: RecordFunction;
  readonly #backlog = new Backlog();
  readonly #queues = new Map<string, CommitQueue<Batch, Result>>();
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

  /** See `CountStore.record`. Its proof may be called outdated because another one beside it is. */
  async record(projectId: string, batch: Batch): Promise<RecordResult> {
    const result = await this.#queueFor(projectId).submit(batch);
    if (result === 'outdated') throw new OutdatedAccess();
    return result;
  }

  /** Rejects further batches, and resolves when all accepted ones have settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  #queueFor(projectId: string): CommitQueue<Batch, Result> {
    if (this.#closed) throw unavailable('The store is closing.');
    const known = this.#queues.get(projectId);
    if (known !== undefined) return known;
    if (this.#queues.size >= queuesMax) this.#removeIdle();
    const queue = new CommitQueue<Batch, Result>({
      commit: (batches) => this.#commit(projectId, batches),
      weigh: ({ queries }) => Math.max(queries.length, 1),
      backlog: this.#backlog,
      observer: this.#observer,
    });
    this.#queues.set(projectId, queue);
    return queue;
  }

  #removeIdle(): void {
    for (const [projectId, queue] of this.#queues) if (queue.idle) this.#queues.delete(projectId);
  }

  async #commit(projectId: string, batches: readonly Batch[]): Promise<Outcome<Result>[]> {
    const outcomes = new Map<Batch, Outcome<Result>>();
    for (const batch of batches) {
      if (batch.signal.aborted)
        outcomes.set(batch, { ok: false, code: 'unavailable', message: 'It waited too long to be written.' });
    }
    // A rejected batch must not affect the others, so the call is repeated without it.
    while (outcomes.size < batches.length) {
      const waiting = batches.filter((batch) => !outcomes.has(batch));
      const settled = await this.#commitTogether(projectId, waiting);
      for (const [batch, outcome] of settled) outcomes.set(batch, outcome);
      if (settled.size === 0) throw new Error('a call was refused for no batch of it');
    }
    return batches.map((batch) => outcomes.get(batch)).filter((outcome) => outcome !== undefined);
  }

  /** The outcomes of all batches, or only of the rejected ones if there are any. */
  async #commitTogether(projectId: string, batches: readonly Batch[]): Promise<Map<Batch, Outcome<Result>>> {
    const { firsts, receipts } = distinctQueries(batches);
    const proofs = distinctProofs(batches);
    const answer = await this.#record({ ...toCall(projectId, firsts, receipts), proofs });
    if (answer === 'outdated') {
      const proved = batches.filter(({ proof }) => proof !== undefined);
      return new Map(proved.map((batch) => [batch, { ok: true, value: answer }]));
    }
    if (answer === null) {
      const message = `There is no project ${projectId}.`;
      return new Map(batches.map((batch) => [batch, { ok: false, code: 'not_found', message }]));
    }
    return 'rowsFrom' in answer ? refuseOld(batches, answer.rowsFrom) : recorded(batches, firsts, answer);
  }
}

/** A query and the first batch that contains it. Others with its id are duplicates. */
interface First {
  readonly query: ArrivingQuery;
  readonly batch: Batch;
  /** The place of its receipt, or -1. */
  readonly receiptAt: number;
}

interface Distinct {
  readonly firsts: readonly First[];
  readonly receipts: readonly Receipt[];
}

function distinctQueries(batches: readonly Batch[]): Distinct {
  const firsts = new Map<string, First>();
  const collector = new ReceiptCollector();
  for (const batch of batches) {
    const placeOf = collector.batch(batch.receipt);
    for (const query of batch.queries)
      if (!firsts.has(query.id)) firsts.set(query.id, { query, batch, receiptAt: placeOf(query) });
  }
  return { firsts: [...firsts.values()], receipts: collector.receipts };
}

/** Undefined if there are none. */
function distinctProofs(batches: readonly Batch[]): AccessProof[] | undefined {
  const proofs = new Map(batches.map(({ proof }) => [`${proof?.keyHash} ${proof?.stamp}`, proof]));
  const found = [...proofs.values()].filter((proof) => proof !== undefined);
  return found.length === 0 ? undefined : found;
}

/** The outcomes if the queries at the positions `duplicates` (from 1) existed already. */
function recorded(
  batches: readonly Batch[],
  firsts: readonly First[],
  duplicates: readonly number[],
): Map<Batch, Outcome<RecordResult>> {
  const counts = new Map(batches.map((batch) => [batch, 0]));
  const known = new Set(duplicates);
  for (const [at, { batch }] of firsts.entries()) {
    if (!known.has(at + 1)) counts.set(batch, (counts.get(batch) ?? 0) + 1);
  }
  return new Map(
    [...counts].map(([batch, count]) => [
      batch,
      { ok: true, value: { recorded: count, duplicates: batch.queries.length - count } },
    ]),
  );
}

/** The outcomes of the batches that have queries from before `rowsFrom`. */
function refuseOld(batches: readonly Batch[], rowsFrom: number): Map<Batch, Outcome<RecordResult>> {
  const outcomes = new Map<Batch, Outcome<RecordResult>>();
  for (const batch of batches) {
    const ids = batch.queries.map(({ id }) => id);
    const times = batch.queries.map(({ occurredAt }) => occurredAt);
    const error = oldQueriesError(ids, times, rowsFrom);
    if (error !== undefined) outcomes.set(batch, refused(error));
  }
  return outcomes;
}

function toCall(projectId: string, firsts: readonly First[], receipts: readonly Receipt[]): RecordCall {
  return {
    projectId,
    ids: arrayOf(firsts, ({ query }) => `"\\\\x${encodeQueryId(query.id)}"`),
    times: arrayOf(firsts, ({ query }) => String(query.occurredAt)),
    // Quoted, because a caller may be called null. Names of callers need no escaping.
    callers: arrayOf(firsts, ({ query }) => `"${query.caller}"`),
    days: arrayOf(receipts, ({ day }) => String(day)),
    senders: arrayOf(receipts, ({ sender }) => JSON.stringify(sender)),
    receiptOf: arrayOf(firsts, ({ receiptAt }) => String(receiptAt + 1)),
    only: firsts.length === 1 ? toOne(firsts[0], receipts) : undefined,
  };
}

function toOne(first: First | undefined, receipts: readonly Receipt[]): readonly unknown[] | undefined {
  const receipt = receipts[first?.receiptAt ?? -1];
  if (first === undefined || receipt === undefined) return undefined;
  const { id, occurredAt, caller } = first.query;
  return [`\\x${encodeQueryId(id)}`, occurredAt, caller, receipt.day, receipt.sender];
}

/** An array literal (postgresql.org/docs/current/arrays.html#ARRAYS-IO). */
function arrayOf<T>(items: readonly T[], element: (item: T) => string): string {
  return `{${items.map(element).join(',')}}`;
}
