/**
 * The simulated database: a small model of a transactional store and its disk. It replaces SQLite and PostgreSQL, not a module of
 * the product. A transaction is written, synced and then acknowledged; it is on disk as a whole or not at all. Transactions fail,
 * take long, or succeed without an answer, and a crash decides those in progress.
 */
import type { Query } from '../../../src/domain/queries/query.js';
import type { Outcome } from '../../../src/storage/commit-queue.js';
import type { RecordResult } from '../../../src/storage/ports/counts.js';
import type { RecordAnswer, RecordCall } from '../../../src/storage/postgres/recorder.js';
import type { Product } from '../bundle.js';
import type { CorrectedRows, CorrectionOperation } from '../corrections.js';
import { toBatch } from '../corrections.js';
import type { Ledger } from '../ledger.js';
import type { World } from './world.js';

export interface StoreFaults {
  /** The transaction fails and changes nothing. */
  readonly fails: number;
  /** It is on disk, but its answer is an error or a broken connection. */
  readonly unanswered: number;
  /** Nothing happens for a long time, and then either of both. */
  readonly stalls: number;
  readonly slownessMs: number;
}

/** One request. */
export interface Operation {
  readonly request: string;
  readonly project: string;
  readonly ids: readonly string[];
  readonly queries: readonly Query[];
}

/** What the store of SQLite commits. */
export type Change = Operation | CorrectionOperation;

export const goneProject = 'gone';

interface Transaction {
  readonly commit: () => void;
  readonly abort: (error: Error) => void;
  isOver: boolean;
}

/** The longest time without an answer: longer than any deadline. */
const stallMsMax = 8_000;

class BrokenConnection extends Error {}

export class Database {
  isFull = false;
  faults: StoreFaults;
  /** The requests whose operations were executed, with their results. */
  readonly executed = new Map<string, RecordResult | undefined>();
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #running = new Set<Transaction>();
  readonly #idsByHex = new Map<string, string>();

  /** Undefined if nothing is corrected. */
  readonly rows: CorrectedRows | undefined;

  constructor(world: World, ledger: Ledger, faults: StoreFaults, rows?: CorrectedRows) {
    this.#world = world;
    this.#ledger = ledger;
    this.faults = faults;
    this.rows = rows;
  }

  /** Commits a group as SQLite's writer does. Takes one group at a time. */
  async commit(product: Product, operations: readonly Change[]): Promise<Outcome<unknown>[]> {
    if (this.#running.size > 0)
      this.#world.fail('the writer gets a group before it has committed the last one');
    const unavailable = () =>
      new product.CallerStatsError('unavailable', 'The database cannot be written now.');
    let outcomes: Outcome<unknown>[] = [];
    await this.#transact(unavailable, () => {
      const added = new Set<string>();
      const results = operations.map((operation) =>
        'request' in operation ? this.#execute(operation, added) : undefined,
      );
      this.#ledger.commit([...added], sum(results));
      outcomes = results.map((result) => result ?? { ok: true, value: undefined });
      if (this.rows !== undefined)
        void this.#write(product, this.rows, operations, results).then((written) => {
          outcomes = written;
        });
    });
    return outcomes;
  }

  /** Calls the function `record` as a connection to PostgreSQL does. */
  async call(
    product: Product,
    { projectId, ids }: RecordCall,
    sent: Iterable<string>,
  ): Promise<RecordAnswer> {
    for (const id of sent) this.#idsByHex.set(product.encodeQueryId(id), id);
    const names = [...ids.matchAll(/x([0-9a-f]+)/g)].map(([, hex = '']) => this.#idsByHex.get(hex) ?? hex);
    let answer: RecordAnswer = null;
    await this.#transact(
      () => new BrokenConnection('Connection terminated unexpectedly'),
      () => {
        if (projectId === goneProject) return;
        const added = names.filter((id) => !this.#ledger.isCounted(id));
        answer = names.flatMap((id, at) => (this.#ledger.isCounted(id) ? [at + 1] : []));
        this.#ledger.commit(added, added.length);
      },
    );
    return answer;
  }

  /** The process, or the machine, of the database ends: what is in progress is on disk or is not. */
  crash(): void {
    for (const transaction of this.#running) {
      if (this.#world.chance(0.5)) transaction.commit();
      transaction.abort(new BrokenConnection('Connection terminated unexpectedly'));
    }
  }

  /** Writes the rows in the same turn. They must say what the model says. */
  async #write(
    product: Product,
    rows: CorrectedRows,
    operations: readonly Change[],
    results: readonly (Outcome<RecordResult> | undefined)[],
  ): Promise<Outcome<unknown>[]> {
    const { nowMs } = this.#world;
    try {
      const writer = new product.Writer(rows.db);
      const written = await rows.commit(
        { commit: async (all) => [...(await product.commitMerged(all, (merged) => writer.commit(merged)))] },
        operations.map((one) => ('request' in one ? toBatch(one.project, one.queries, nowMs) : one)),
      );
      for (const [at, result] of results.entries())
        if (result?.ok && JSON.stringify(written[at]) !== JSON.stringify(result))
          this.#world.fail(
            `the writer answers ${JSON.stringify(written[at])}, not ${JSON.stringify(result)}`,
          );
      return [...written];
    } catch (error) {
      this.#world.fail(`the writer fails: ${(error as Error).stack}`);
      return [];
    }
  }

  #execute({ request, project, ids }: Operation, added: Set<string>): Outcome<RecordResult> {
    this.executed.set(request, undefined);
    if (project === goneProject)
      return { ok: false, code: 'not_found', message: 'There is no project gone.' };
    let recorded = 0;
    for (const id of ids) {
      if (this.#ledger.isCounted(id) || added.has(id)) continue;
      added.add(id);
      recorded++;
    }
    const value = { recorded, duplicates: ids.length - recorded };
    this.executed.set(request, value);
    return { ok: true, value };
  }

  async #transact(error: () => Error, work: () => void): Promise<void> {
    const { fails, unanswered, stalls, slownessMs } = this.faults;
    const world = this.#world;
    const writeMs = world.chance(stalls) ? world.uptoMs(stallMsMax) : world.uptoMs(slownessMs);
    await new Promise<void>((resolve, reject) => {
      const transaction: Transaction = {
        isOver: false,
        commit: () => {
          if (transaction.isOver) return;
          work();
        },
        abort: (reason) => {
          transaction.isOver = true;
          this.#running.delete(transaction);
          reject(reason);
        },
      };
      this.#running.add(transaction);
      world.after(writeMs, () => {
        if (transaction.isOver) return;
        if (this.isFull || world.chance(fails)) return transaction.abort(error());
        transaction.commit();
        transaction.isOver = true;
        this.#running.delete(transaction);
        world.note('the database commits');
        world.after(world.uptoMs(slownessMs), () => {
          if (world.chance(unanswered)) reject(error());
          else resolve();
        });
      });
    });
  }
}

/** Whether another try may help, as for the errors of PostgreSQL's driver. */
export const isPassing = (error: Error): boolean => error instanceof BrokenConnection;

function sum(outcomes: readonly (Outcome<RecordResult> | undefined)[]): number {
  return outcomes.reduce((total, outcome) => total + (outcome?.ok ? outcome.value.recorded : 0), 0);
}
