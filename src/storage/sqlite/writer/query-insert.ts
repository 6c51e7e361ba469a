import type { Connection } from '../connection.js';
import { isConflict } from '../errors.js';
import { type Prepared, prepare, prepareArrays } from '../statements.js';
import { MultiRowInsert, multiRow, rowsPerStatement } from './multi-row.js';

const head = 'INTO query (project, id, occurred_at, caller)';
/** The values of each row. */
export const columns = 4;

/**
 * Inserts queries and reports which are new. Mostly all are, and then statements need not return rows, which saves a good
 * part of the time. After the first duplicate, each statement returns the rows that it inserted.
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

  /**
   * Inserts the rows of a flat array of (project, id, occurred_at, caller) up to the first duplicate, or to a remainder that
   * fills no statement. Returns the number of rows inserted.
   */
  insertNew(rows: readonly unknown[]): number {
    const step = columns * rowsPerStatement;
    let inserted = 0;
    for (let at = 0; at === inserted * columns && at + step <= rows.length; at += step)
      inserted += this.#insertWhileNew(rows.slice(at, at + step));
    return inserted;
  }

  /** Inserts those that are new, and returns their times and callers. */
  insertUnknown(rows: readonly unknown[]): readonly (readonly unknown[])[] {
    return this.#insertUnknown.insert(rows);
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
