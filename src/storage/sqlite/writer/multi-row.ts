import type { Connection } from '../connection.js';
import { type Prepared, prepareArrays } from '../statements.js';

/** Rows per statement. With more, binding costs more than another statement. */
export const rowsPerStatement = 32;

/** Fewer rows take less time one by one than in a statement with room for `rowsPerStatement`. */
export const rowsTogetherMin = 8;

/** The SQL of an `INSERT`: `head` is the part before `VALUES`, and `tail` the part after the rows. */
export function multiRow(head: string, columns: number, rows: number, tail = ''): string {
  const row = `(${Array(columns).fill('?').join(', ')})`;
  return `${head} VALUES ${Array(rows).fill(row).join(', ')} ${tail}`;
}

/** A prepared `INSERT … VALUES` that takes any number of rows, most of them 32 at a time. */
export class MultiRowInsert {
  readonly #columns: number;
  readonly #many: Prepared<unknown[]>;
  readonly #one: Prepared<unknown[]>;

  constructor(db: Connection, head: string, columns: number, tail: string) {
    this.#columns = columns;
    this.#many = prepareArrays(db, multiRow(head, columns, rowsPerStatement, tail));
    this.#one = prepareArrays(db, multiRow(head, columns, 1, tail));
  }

  /** Inserts the rows of a flat array, in order. Returns the rows of `RETURNING`. */
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
