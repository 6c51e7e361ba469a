/**
 * A real SQLite database beside the simulated disk, and what its corrections must have made of its rows. The product's writer
 * changes it when the simulated transaction is on disk.
 */
import type { CorrectionRequest } from '../../src/domain/corrections/correction.js';
import { dayOf } from '../../src/domain/queries/receipt.js';
import type { Outcome } from '../../src/storage/commit-queue.js';
import { verify } from '../../src/storage/sqlite/counters/verify.js';
import { openMigrated } from '../../src/storage/sqlite/migrations/migrate.js';
import type { Operation } from '../../src/storage/sqlite/writer/operations.js';
import { Writer } from '../../src/storage/sqlite/writer/writer.js';
import { by, projectOf } from '../support/storage/entities.js';

export type CorrectionOperation = Extract<Operation, { readonly kind: 'corrections' }>;

interface Row {
  readonly caller: string;
  readonly occurredAt: number;
}

interface Accepted {
  readonly request: CorrectionRequest;
  readonly matched: ReadonlySet<string>;
  isUndone: boolean;
}

export class CorrectedRows {
  readonly db = openMigrated(':memory:');
  readonly #rows = new Map<string, Row>();
  readonly #accepted = new Map<string, Accepted>();
  readonly #ready: Promise<unknown>;

  constructor() {
    this.#ready = new Writer(this.db).commit([
      { kind: 'directory', method: 'createProject', args: [projectOf('docs'), by] },
    ]);
  }

  /** Whether a correction is on disk. */
  has(id: string): boolean {
    return this.#accepted.has(id);
  }

  /** Commits with the writer of a process. */
  async commit(
    writer: Pick<Writer, 'commit'>,
    operations: readonly Operation[],
  ): Promise<readonly Outcome<unknown>[]> {
    await this.#ready;
    const outcomes = await writer.commit(operations);
    for (const [at, operation] of operations.entries()) if (outcomes[at]?.ok) this.#note(operation);
    return outcomes;
  }

  /** What is wrong, once every correction is finished. */
  problem(): string | undefined {
    const { differencesTotal, queries } = verify(this.db);
    if (differencesTotal > 0) return `${differencesTotal} counters differ from the rows`;
    const expected = this.#countCallers();
    const total = [...expected.values()].reduce((sum, count) => sum + count, 0);
    const found = this.db
      .prepare(
        `SELECT name AS caller, count(*) AS queries FROM query JOIN caller ON caller.number = query.caller
         WHERE query.caller >= 0 GROUP BY name`,
      )
      .all() as { caller: string; queries: number }[];
    const isEqual = found.every(({ caller, queries: count }) => expected.get(caller) === count);
    if (queries === total && isEqual && found.length === expected.size) return undefined;
    return `corrections leave ${JSON.stringify(found)}, not ${JSON.stringify([...expected])}`;
  }

  #note(operation: Operation): void {
    if (operation.kind === 'record')
      for (const [at, id] of operation.ids.entries())
        if (!this.#rows.has(id))
          this.#rows.set(id, {
            caller: operation.callers[at] ?? '',
            occurredAt: operation.occurredAt[at] ?? 0,
          });
    if (operation.kind === 'corrections' && operation.method === 'accept')
      this.#accept(operation.args[1] as CorrectionRequest);
  }

  #accept(request: CorrectionRequest): void {
    if (this.#accepted.has(request.id)) return;
    const undone = request.action === 'undo' ? this.#accepted.get(request.correction) : undefined;
    if (undone !== undefined) undone.isUndone = true;
    const ids = [...this.#rows.keys()].filter((id) => this.#matches(id, request));
    this.#accepted.set(request.id, { request, matched: new Set(ids), isUndone: false });
  }

  #matches(id: string, request: CorrectionRequest): boolean {
    const caller = this.#callerOf(id);
    if (request.action === 'undo' || caller === undefined) return false;
    // A correction concerns what it changes.
    if (request.action === 'rename' && request.to === caller) return false;
    const { selection } = request;
    if ('ids' in selection) return selection.ids.includes(id);
    if ('source' in selection) return false;
    const occurredAt = this.#rows.get(id)?.occurredAt ?? 0;
    const isOfCaller = selection.caller === null || selection.caller === caller;
    return isOfCaller && occurredAt >= selection.range.from && occurredAt < selection.range.to;
  }

  /** Undefined if the query does not count. */
  #callerOf(id: string): string | undefined {
    let caller = this.#rows.get(id)?.caller;
    for (const { request, matched, isUndone } of this.#accepted.values()) {
      if (isUndone || caller === undefined || !matched.has(id)) continue;
      if (request.action === 'withdraw') caller = undefined;
      if (request.action === 'rename') caller = request.to;
    }
    return caller;
  }

  #countCallers(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const id of this.#rows.keys()) {
      const caller = this.#callerOf(id);
      if (caller !== undefined) counts.set(caller, (counts.get(caller) ?? 0) + 1);
    }
    return counts;
  }
}

/** A recording as the store of SQLite sends it to its writer. */
export function toBatch(
  project: string,
  queries: readonly { readonly id: string; readonly caller: string; readonly occurredAt: number }[],
  nowMs: number,
): Extract<Operation, { readonly kind: 'record' }> {
  return {
    kind: 'record',
    projectId: project,
    ids: queries.map(({ id }) => id),
    callers: queries.map(({ caller }) => caller),
    occurredAt: Float64Array.from(queries, ({ occurredAt }) => occurredAt),
    receipts: [{ day: dayOf(nowMs), sender: 'key:one' }],
  };
}
