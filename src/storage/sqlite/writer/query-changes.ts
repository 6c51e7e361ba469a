/** Moves queries from the counters of one caller to those of another, or to none, within the transaction that is open. */
import { callerType } from '../../../domain/queries/caller.js';
import {
  type CorrectedRow,
  type CounterChange,
  type ImportedRow,
  type LateChange,
  type Move,
  type QueryChanges,
  toCounterChanges,
} from '../../sql/corrections/query-rows.js';
import { callerNumber } from '../caller-number.js';
import { type CounterDeltas, TYPE_INDEX } from '../counters/counter-deltas.js';
import { encodeQueryId } from '../query-id.js';
import { SqliteQueryRows } from '../query-rows.js';
import type { Statements } from '../statements.js';

export class SqliteQueryChanges extends SqliteQueryRows implements QueryChanges {
  readonly #statements: Statements;
  readonly #deltas: CounterDeltas;

  /** `deltas` are those of the transaction. */
  constructor(statements: Statements, deltas: CounterDeltas) {
    super(statements);
    this.#statements = statements;
    this.#deltas = deltas;
  }

  async noteCorrected(project: unknown, rows: readonly CorrectedRow[]): Promise<void> {
    for (const { id, correction, caller } of rows) {
      this.#statements.run(
        'INSERT INTO corrected_query (project, correction, id, caller) VALUES ($1, $2, $3, $4)',
        [project, correction, encodeQueryId(id), callerNumber(this.#statements, caller)],
      );
    }
  }

  async noteLate(project: unknown, changes: readonly LateChange[]): Promise<void> {
    for (const { id, day, caller, isWithdrawn, isCorrected } of changes) {
      this.#statements.run(
        `INSERT INTO late_change (project, id, day, caller, is_withdrawn, is_corrected) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT DO NOTHING`,
        [
          ...[project, encodeQueryId(id), day, callerNumber(this.#statements, caller)],
          ...[isWithdrawn ? 1 : 0, isCorrected ? 1 : 0],
        ],
      );
    }
  }

  async findLate(project: unknown, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const find = 'SELECT 1 AS found FROM late_change WHERE project = $1 AND id = $2 LIMIT 1';
    return new Set(
      ids.filter((id) => this.#statements.get(find, [project, encodeQueryId(id)]) !== undefined),
    );
  }

  async markImported(
    project: unknown,
    source: string,
    rows: readonly ImportedRow[],
    withdrawnBy: number | null,
  ): Promise<void> {
    for (const { caller, start } of rows) {
      const values = [project, source, callerNumber(this.#statements, caller), start, withdrawnBy];
      this.#statements.run(
        `UPDATE imported_count SET withdrawn_by = $5
         WHERE project = $1 AND source = $2 AND caller = $3 AND start_at = $4`,
        values,
      );
      if (withdrawnBy !== null)
        this.#statements.run(
          'INSERT INTO withdrawn_count (project, source, caller, start_at, correction) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING',
          values,
        );
    }
  }

  async move(project: unknown, moves: readonly Move[]): Promise<void> {
    for (const { row, to } of moves) {
      const number = callerNumber(this.#statements, to.caller);
      this.#statements.run('UPDATE query SET caller = $3 WHERE project = $1 AND id = $2', [
        ...[project, encodeQueryId(row.id), to.isWithdrawn ? -1 - number : number],
      ]);
    }
    await this.addToCounters(project, toCounterChanges(moves));
  }

  async addToCounters(project: unknown, changes: readonly CounterChange[]): Promise<void> {
    for (const { occurredAt, caller, queries } of changes) {
      const type = TYPE_INDEX[callerType(caller)];
      this.#deltas.add(Number(project), occurredAt, type, callerNumber(this.#statements, caller), queries);
    }
    // Caches rely on it.
    this.#statements.run('UPDATE project SET revision = revision + 1 WHERE number = $1', [project]);
  }
}
