/** Prepared statements. Hot paths keep theirs in a field or an array; `Statements` finds all others by their text. */
import type { Row, Session } from '../sql/session.js';
import type { Connection } from './connection.js';

/** A prepared statement with typed rows, which the driver types as `any`. */
export interface Prepared<R> {
  get(...values: readonly unknown[]): R | undefined;
  all(...values: readonly unknown[]): R[];
  iterate(...values: readonly unknown[]): IterableIterator<R>;
  run(...values: readonly unknown[]): { readonly changes: number | bigint };
}

/**
 * The rows are objects. Takes the placeholders `?` as well as `$1`, `$2` and so on: SQLite itself would number the latter by
 * their first occurrence.
 */
export function prepare<R>(db: Connection, sql: string): Prepared<R> {
  return db.prepare(sql.replace(/\$(\d+)/g, '?$1'));
}

/** The rows are arrays, which are faster. */
export function prepareArrays<R extends readonly unknown[]>(db: Connection, sql: string): Prepared<R> {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement as Prepared<unknown> as Prepared<R>;
}

/** `from` is a table, and may have a condition. */
export function countRows(db: Connection, from: string): number {
  const row = prepareArrays<readonly [number]>(db, `SELECT count(*) FROM ${from}`).get();
  if (row === undefined) throw new Error(`counting the rows of ${from} returned nothing`);
  return row[0];
}

/** Prepares each statement of one connection once. */
export class Statements implements Session {
  readonly #db: Connection;
  readonly #prepared = new Map<string, Prepared<unknown>>();

  constructor(db: Connection) {
    this.#db = db;
  }

  prepare<R>(sql: string): Prepared<R> {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = prepare(this.#db, sql);
      this.#prepared.set(sql, statement);
    }
    return statement as Prepared<R>;
  }

  get<R = Row>(sql: string, values: readonly unknown[] = []): R | undefined {
    return this.prepare<R>(sql).get(...values);
  }

  all<R = Row>(sql: string, values: readonly unknown[] = []): R[] {
    return this.prepare<R>(sql).all(...values);
  }

  run(sql: string, values: readonly unknown[] = []): number {
    return Number(this.prepare(sql).run(...values).changes);
  }
}
