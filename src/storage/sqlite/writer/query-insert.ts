import type { Connection } from '../connection.js';
import { isConflict } from '../errors.js';
import { encodeQueryId, uuidBytes, writeUuid } from '../query-id.js';
import { type Prepared, prepare, prepareArrays } from '../statements.js';
import { multiRow, rowsPerStatement, rowsTogetherMin } from './multi-row.js';

const head = 'INTO query (project, id, occurred_at, caller, receipt)';
const columns = 5;

/**
 * Rows whose ids are the parts of one value, as many as its last value says. Binding a value takes as long as inserting a third of a row,
 * and one of bytes the longest. With a `LIMIT`, SQLite would make a table of the rows first.
 */
const ROWS_OF_UUIDS = `INSERT OR FAIL ${head}
  SELECT ?, substr(ids, column1, ${uuidBytes}), column2, column3, column4
  FROM (SELECT ? AS ids) CROSS JOIN (VALUES ${Array.from({ length: rowsPerStatement }, (_, row) => `(${1 + row * uuidBytes}, ?, ?, ?)`).join(', ')})
  WHERE column1 <= ?`;

const valuesOfUuids = 2 + 3 * rowsPerStatement;

/** Inserts queries and reports which are new. Usually all of them are, so most are inserted many at a time, up to the first duplicate. */
export class QueryInsert {
  /** Stops at the first duplicate, and keeps the rows before it. */
  readonly #insertNew: Prepared<unknown>;
  /** The same for ids that are all UUIDs. */
  readonly #insertNewUuids: Prepared<unknown>;
  readonly #uuids = new Uint8Array(rowsPerStatement * uuidBytes);
  readonly #changes: Prepared<readonly [number]>;
  readonly #insertOne: Prepared<unknown>;

  constructor(db: Connection) {
    this.#insertNew = prepare(db, multiRow(`INSERT OR FAIL ${head}`, columns, rowsPerStatement));
    this.#insertNewUuids = prepare(db, ROWS_OF_UUIDS);
    this.#changes = prepareArrays(db, 'SELECT changes()');
    this.#insertOne = prepare(db, multiRow(`INSERT ${head}`, columns, 1, 'ON CONFLICT DO NOTHING'));
  }

  /**
   * `rows` is a flat array of (project, id, occurred_at, caller, receipt), all of one project. Calls `onNew` with the index of each new
   * query, in order.
   */
  insert(rows: readonly unknown[], onNew: (row: number) => void): void {
    const end = rows.length / columns;
    let row = 0;
    for (let allNew = true; allNew && end - row >= rowsTogetherMin; ) {
      const wanted = Math.min(rowsPerStatement, end - row);
      const inserted = this.#insertWhileNew(rows, row, wanted);
      for (const next = row + inserted; row < next; row++) onNew(row);
      allNew = inserted === wanted;
    }
    for (; row < end; row++) {
      const values = encodeIds(rows.slice(row * columns, (row + 1) * columns));
      if (Number(this.#insertOne.run(...values).changes) === 1) onNew(row);
    }
  }

  /** Returns the number of rows inserted before the first duplicate. */
  #insertWhileNew(rows: readonly unknown[], from: number, count: number): number {
    const uuids = this.#withUuids(rows, from, count);
    if (uuids === undefined && count < rowsPerStatement) return 0;
    try {
      if (uuids !== undefined) this.#insertNewUuids.run(...uuids);
      else this.#insertNew.run(...encodeIds(rows.slice(from * columns, (from + count) * columns)));
      return count;
    } catch (error) {
      if (!isConflict(error)) throw error;
      const changes = this.#changes.get();
      if (changes === undefined) throw new Error('changes() returned no row');
      return changes[0];
    }
  }

  /** The values of `ROWS_OF_UUIDS`. Undefined if not all ids are UUIDs. */
  #withUuids(rows: readonly unknown[], from: number, count: number): unknown[] | undefined {
    const values = [rows[from * columns], this.#uuids];
    for (let row = 0; row < count; row++) {
      const at = (from + row) * columns;
      if (!writeUuid(String(rows[at + 1]), this.#uuids, row * uuidBytes)) return undefined;
      values.push(rows[at + 2], rows[at + 3], rows[at + 4]);
    }
    while (values.length < valuesOfUuids) values.push(null);
    values.push(count * uuidBytes);
    return values;
  }
}

/** Encodes the ids of rows, in place. */
function encodeIds(rows: unknown[]): unknown[] {
  for (let at = 1; at < rows.length; at += columns) rows[at] = encodeQueryId(String(rows[at]));
  return rows;
}
