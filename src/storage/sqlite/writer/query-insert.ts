import type { Connection } from '../connection.js';
import { isConflict } from '../errors.js';
import { type Prepared, prepare, prepareArrays } from '../statements.js';
import { MultiRowInsert, multiRow, rowsPerStatement } from './multi-row.js';

const head = 'INTO query (project, id, occurred_at, caller, receipt)';
const columns = 5;

/**
 * Inserts queries and reports which are new. Usually all of them are. Then the statements return no rows, which saves much
 * of the time. After the first duplicate, each statement returns the rows that it inserted.
 */
export class QueryInsert {
  /** Stops at the first duplicate, and keeps the rows before it. */
  readonly #insertNew: Prepared<unknown>;
  readonly #changes: Prepared<readonly [number]>;
  readonly #insertUnknown: MultiRowInsert;

  constructor(db: Connection) {
    this.#insertNew = prepare(db, multiRow(`INSERT OR FAIL ${head}`, columns, rowsPerStatement));
    this.#changes = prepareArrays(db, 'SELECT changes()');
    this.#insertUnknown = new MultiRowInsert(
      db,
      `INSERT ${head}`,
      columns,
      'ON CONFLICT DO NOTHING RETURNING occurred_at, caller',
    );
  }

  /** `rows` is a flat array of (project, id, occurred_at, caller, receipt). Calls `onNew` for each new query, in order. */
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

  /** Returns the number of rows inserted before the first duplicate. */
  #insertWhileNew(rows: readonly unknown[]): number {
    try {
      this.#insertNew.run(...rows);
      return rowsPerStatement;
    } catch (error) {
      if (!isConflict(error)) throw error;
      const changes = this.#changes.get();
      if (changes === undefined) throw new Error('changes() returned no row');
      return changes[0];
    }
  }
}
