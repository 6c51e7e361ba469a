import type { Columns } from './rows.js';
import type { Dialect, Row, Session } from './session.js';

/** Statements on the tables of a session, for the classes of this folder. */
export abstract class SqlTables {
  protected readonly session: Session;
  protected readonly dialect: Dialect;
  /** The name of a table, with its schema if it has one. */
  protected readonly table: Dialect['table'];

  constructor(session: Session, dialect: Dialect) {
    this.session = session;
    this.dialect = dialect;
    this.table = dialect.table;
  }

  /** The first row. */
  protected async get<R = Row>(sql: string, values?: readonly unknown[]): Promise<R | undefined> {
    return (await this.session.all<R>(sql, values))[0];
  }

  /** The first entity that `rest`, which follows FROM, finds. */
  protected async find<Entity extends object>(
    columns: Columns<Entity>,
    rest: string,
    values: readonly unknown[],
  ): Promise<Entity | undefined> {
    const row = await this.get(this.#select(columns, rest), values);
    return row && columns.read(row);
  }

  /** All entities that `rest`, which follows FROM, finds. */
  protected async list<Entity extends object>(
    columns: Columns<Entity>,
    rest: string,
    values: readonly unknown[],
  ): Promise<Entity[]> {
    const rows = await this.session.all(this.#select(columns, rest), values);
    return rows.map((row) => columns.read(row));
  }

  #select<Entity extends object>(columns: Columns<Entity>, rest: string): string {
    return `SELECT ${columns.select()} FROM ${this.table(columns.table)} ${rest}`;
  }
}
