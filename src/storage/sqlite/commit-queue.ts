import { CallerStatsError } from '../../domain/errors.js';
import { commitQueriesMax, pendingOperationsMax, pendingQueriesMax } from '../../domain/limits.js';
import type { Operation, Outcome } from './operations.js';

interface Pending {
  readonly operation: Operation;
  /** Rows it writes, roughly. */
  readonly weight: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: whatever arrives while one transaction is being made durable shares the next. A lone request is
 * committed at once; under load, one wait for the disk serves many.
 */
export class CommitQueue {
  readonly #commit: (operations: readonly Operation[]) => Promise<readonly Outcome[]>;
  #waiting: Pending[] = [];
  #waitingQueries = 0;
  #draining: Promise<void> | undefined;
  #closed = false;

  /** `commit` makes a group of operations durable and gives an outcome for each, in order. */
  constructor(commit: (operations: readonly Operation[]) => Promise<readonly Outcome[]>) {
    this.#commit = commit;
  }

  /** Resolves with the operation's value once it is durable. Rejects at once where too much is waiting. */
  submit(operation: Operation): Promise<unknown> {
    const weight = operation.kind === 'record' ? operation.ids.length : 1;
    if (this.#closed) return Promise.reject(new CallerStatsError('unavailable', 'The store is closing.'));
    if (this.#waiting.length >= pendingOperationsMax || this.#waitingQueries + weight > pendingQueriesMax) {
      return Promise.reject(new CallerStatsError('unavailable', 'Too much is waiting to be written.'));
    }
    const { promise, resolve, reject } = deferred();
    this.#waiting.push({ operation, weight, resolve, reject });
    this.#waitingQueries += weight;
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Refuses what comes after, and resolves when all that was accepted has settled. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#draining;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) await this.#commitNext();
    this.#draining = undefined;
  }

  async #commitNext(): Promise<void> {
    const group = this.#takeGroup();
    try {
      const outcomes = await this.#commit(group.map(({ operation }) => operation));
      for (const [index, pending] of group.entries()) settle(pending, outcomes[index]);
    } catch (error) {
      for (const pending of group) pending.reject(error);
    }
  }

  /** As many of the oldest as fit one commit, and at least one. */
  #takeGroup(): Pending[] {
    let queries = 0;
    let size = 0;
    for (const { weight } of this.#waiting) {
      if (size > 0 && queries + weight > commitQueriesMax) break;
      queries += weight;
      size++;
    }
    const group = this.#waiting.slice(0, size);
    this.#waiting = this.#waiting.slice(size);
    this.#waitingQueries -= queries;
    return group;
  }
}

function settle({ resolve, reject }: Pending, outcome: Outcome | undefined): void {
  if (outcome === undefined) reject(new Error('the writer gave fewer outcomes than it was given operations'));
  else if (outcome.ok) resolve(outcome.value);
  else reject(new CallerStatsError(outcome.code, outcome.message));
}

function deferred() {
  let resolve: (value: unknown) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<unknown>((resolvePromise, rejectPromise) => {
    resolve = resolvePromise;
    reject = rejectPromise;
  });
  return { promise, resolve, reject };
}
