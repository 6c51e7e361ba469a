/** Prepared statements of one connection. */
import type { StatementSyncInstance } from '@photostructure/sqlite';
import type { Row, Session } from '../sql/session.js';
import type { Connection } from './connection.js';

/**
 * Prepares each statement once. Takes the placeholders `?` as well as `$1`, `$2` and so on: SQLite itself would number
 * the latter by where they first appear.
 */
export class Statements implements Session {
  readonly #db: Connection;
  readonly #prepared = new Map<string, StatementSyncInstance>();

  constructor(db: Connection) {
    this.#db = db;
  }

  prepare(sql: string): StatementSyncInstance {
    let statement = this.#prepared.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql.replace(/\$(\d+)/g, '?$1'));
      this.#prepared.set(sql, statement);
    }
    return statement;
  }

  get<R = Row>(sql: string, values: readonly unknown[] = []): R | undefined {
    return this.prepare(sql).get(...values);
  }

  all<R = Row>(sql: string, values: readonly unknown[] = []): R[] {
    return this.prepare(sql).all(...values) as R[];
  }

  run(sql: string, values: readonly unknown[] = []): number {
    return Number(this.prepare(sql).run(...values).changes);
  }
}
