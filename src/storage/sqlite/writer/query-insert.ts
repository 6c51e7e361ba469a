import type { Connection } from '../connection.js';
import { isConflict } from '../errors.js';
import { encodeQueryId, uuidBytes, writeUuid } from '../query-id.js';
import { type Prepared, prepare, prepareArrays } from '../statements.js';
import { MultiRowInsert, multiRow, rowsPerStatement } from './multi-row.js';

const head = 'INTO query (project, id, occurred_at, caller, receipt)';
const columns = 5;

/**
 * Rows whose ids are the parts of one value. Binding a value takes as long as inserting a third of a row, and one of bytes the
 * longest.
 */
const ROWS_OF_UUIDS = `INSERT OR FAIL ${head}
  SELECT ?, substr(ids, column1, ${uuidBytes}), column2, column3, column4
  FROM (SELECT ? AS ids) CROSS JOIN (VALUES ${Array.from({ length: rowsPerStatement }, (_, row) => `(${1 + row * uuidBytes}, ?, ?, ?)`).join(', ')})`;

/**
 * Inserts queries and reports which are new. Usually all of them are. Then the statements return no rows, which saves much
 * of the time. After the first duplicate, each statement returns the rows that it inserted.
 */
export class QueryInsert {
  /** Stops at the first duplicate, and keeps the rows before it. */
  readonly #insertNew: Prepared<unknown>;
  /** The same for ids that are all UUIDs. */
  readonly #insertNewUuids: Prepared<unknown>;
  readonly #uuids = new Uint8Array(rowsPerStatement * uuidBytes);
  readonly #changes: Prepared<readonly [number]>;
  readonly #insertUnknown: MultiRowInsert;

  constructor(db: Connection) {
    this.#insertNew = prepare(db, multiRow(`INSERT OR FAIL ${head}`, columns, rowsPerStatement));
    this.#insertNewUuids = prepare(db, ROWS_OF_UUIDS);
    this.#changes = prepareArrays(db, 'SELECT changes()');
    this.#insertUnknown = new MultiRowInsert(
      db,
      `INSERT ${head}`,
      columns,
      'ON CONFLICT DO NOTHING RETURNING occurred_at, caller',
    );
  }

  /**
   * `rows` is a flat array of (project, id, occurred_at, caller, receipt), all of one project. Calls `onNew` for each new query, in
   * order.
   */
  insert(rows: readonly unknown[], onNew: (timeMs: number, caller: number) => void): void {
    const step = columns * rowsPerStatement;
    let at = 0;
    for (let allNew = true; allNew && at + step <= rows.length; ) {
      const inserted = this.#insertWhileNew(rows, at);
      for (const end = at + inserted * columns; at < end; at += columns)
        onNew(Number(rows[at + 2]), Number(rows[at + 3]));
      allNew = inserted === rowsPerStatement;
    }
    for (const [timeMs, caller] of this.#insertUnknown.insert(encodeIds(rows.slice(at))))
      onNew(Number(timeMs), Number(caller));
  }

  /** Returns the number of rows inserted before the first duplicate. */
  #insertWhileNew(rows: readonly unknown[], from: number): number {
    const uuids = this.#withUuids(rows, from);
    try {
      if (uuids !== undefined) this.#insertNewUuids.run(...uuids);
      else this.#insertNew.run(...encodeIds(rows.slice(from, from + columns * rowsPerStatement)));
      return rowsPerStatement;
    } catch (error) {
      if (!isConflict(error)) throw error;
      const changes = this.#changes.get();
      if (changes === undefined) throw new Error('changes() returned no row');
      return changes[0];
    }
  }
  /** The values of `ROWS_OF_UUIDS`. Undefined if not all ids are UUIDs. */
  #withUuids(rows: readonly unknown[], from: number): unknown[] | undefined {
    const values = [rows[from], this.#uuids];
    for (let row = 0; row < rowsPerStatement; row++) {
      const at = from + row * columns;
      if (!writeUuid(String(rows[at + 1]), this.#uuids, row * uuidBytes)) return undefined;
      values.push(rows[at + 2], rows[at + 3], rows[at + 4]);
    }
    return values;
  }
}

/** Encodes the ids of rows, in place. */
function encodeIds(rows: unknown[]): unknown[] {
  for (let at = 1; at < rows.length; at += columns) rows[at] = encodeQueryId(String(rows[at]));
  return rows;
}
