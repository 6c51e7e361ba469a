import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { Connection } from '../connection.js';

/** Rows a statement: beyond this, binding costs more than a further statement would. */
export const rowsPerStatement = 32;

/** An `INSERT` of so many rows. `head` ends where `VALUES` would stand, `tail` is what follows the rows. */
export function multiRow(head: string, columns: number, rows: number, tail = ''): string {
  const row = `(${Array(columns).fill('?').join(', ')})`;
  return `${head} VALUES ${Array(rows).fill(row).join(', ')} ${tail}`;
}

/** A prepared `INSERT … VALUES` that takes any number of rows, most of them 32 at a time. */
export class MultiRowInsert {
  readonly #columns: number;
  readonly #many: StatementSyncInstance;
  readonly #one: StatementSyncInstance;

  constructor(db: Connection, head: string, columns: number, tail: string) {
    this.#columns = columns;
    this.#many = db.prepare(multiRow(head, columns, rowsPerStatement, tail));
    this.#one = db.prepare(multiRow(head, columns, 1, tail));
    this.#many.setReturnArrays(true);
    this.#one.setReturnArrays(true);
  }

  /** Inserts rows given one after another in one flat array, in order; gives what `RETURNING` returned. */
  insert(values: readonly unknown[]): unknown[][] {
    const returned: unknown[][] = [];
    const step = this.#columns * rowsPerStatement;
    let at = 0;
    for (; at + step <= values.length; at += step) {
      for (const row of this.#many.all(...values.slice(at, at + step))) returned.push(row);
    }
    for (; at < values.length; at += this.#columns) {
      for (const row of this.#one.all(...values.slice(at, at + this.#columns))) returned.push(row);
    }
    return returned;
  }
}
