import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { Connection } from '../connection.js';
import { isConflict } from '../errors.js';
import { MultiRowInsert, multiRow, rowsPerStatement } from './multi-row.js';

const head = 'INTO query (project, id, occurred_at, caller)';
const columns = 4;

/**
 * Inserts queries and tells which of them are new. Mostly all are: then nothing needs to be asked back, which is a good
 * part of what an insertion costs. From the first that is not, each statement returns those that were.
 */
export class QueryInsert {
  /** Stops at the first that is there already, and keeps those before it. */
  readonly #insertNew: StatementSyncInstance;
  readonly #changes: StatementSyncInstance;
  readonly #insertUnknown: MultiRowInsert;

  constructor(db: Connection) {
    this.#insertNew = db.prepare(multiRow(`INSERT OR FAIL ${head}`, columns, rowsPerStatement));
    this.#changes = db.prepare('SELECT changes() AS count');
    this.#insertUnknown = new MultiRowInsert(
      db,
      `INSERT ${head}`,
      columns,
      'ON CONFLICT DO NOTHING RETURNING occurred_at, caller',
    );
  }

  /** Takes rows of (project, id, occurred_at, caller), flat. Calls `onNew` for each that was not there, in order. */
  insert(rows: readonly unknown[], onNew: (timeMs: number, caller: number) => void): void {
    const step = columns * rowsPerStatement;
    let at = 0;
    for (let allNew = true; allNew && at + step <= rows.length; ) {
      const inserted = this.#insertWhileNew(rows.slice(at, at + step));
      for (const end = at + inserted * columns; at < end; at += columns)
        onNew(Number(rows[at + 2]), Number(rows[at + 3]));
      allNew = inserted === rowsPerStatement;
    }
    for (const [timeMs, caller] of this.#insertUnknown.insert(rows.slice(at)))
      onNew(Number(timeMs), Number(caller));
  }

  /** How many rows were inserted before one that is there already. */
  #insertWhileNew(rows: readonly unknown[]): number {
    try {
      this.#insertNew.run(...rows);
      return rowsPerStatement;
    } catch (error) {
      if (!isConflict(error)) throw error;
      return Number(this.#changes.get().count);
    }
  }
}
