import { bucketAt, DAY_LEVEL } from '../../domain/counting/buckets.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import { Turns } from '../../shared/turns.js';
import { type Columns, columnName } from './rows.js';
import type { Dialect, Row, Session } from './session.js';

/** Rows in one statement: a few sizes, so that a connection prepares few different ones. */
const rowsPerStatement = [32, 8, 1];

/** Rows of a long list that are read at once. The largest have 100 projects each, and take some milliseconds together. */
const rowsInPage = 200;

/** All long lists of the process share its turns. */
export const turns = new Turns();

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

  /** Whether anything that counts occurred on the days of a range. */
  protected async hasCounts(projectKey: unknown, { from, to }: DateRange): Promise<boolean> {
    const days = [from, to].map((timeMs) => bucketAt(timeMs, DAY_LEVEL));
    const counted = await this.get(
      `SELECT bucket FROM ${this.dialect.typeCounters} WHERE ${this.dialect.projectColumn} = $1
         AND level = ${DAY_LEVEL} AND bucket >= $2 AND bucket < $3 LIMIT 1`,
      [projectKey, ...days],
    );
    return counted !== undefined;
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
    table?: string,
  ): Promise<Entity[]> {
    const rows = await this.session.all(this.#select(columns, rest, table), values);
    return rows.map((row) => columns.read(row));
  }

  /**
   * All entities for which `where` holds: a page in each turn of the event loop. `order` must be unique. Its columns should have an index,
   * or stand before the long ones, so that sorting reads no long texts.
   */
  protected async listLong<Entity extends object, Field extends keyof Entity & string>(
    columns: Columns<Entity>,
    order: readonly Field[],
    where: string,
    values: readonly unknown[],
    table = columns.table,
  ): Promise<Entity[]> {
    const names = order.map(columnName).join(', ');
    const bounds = order.map((_, at) => `$${values.length + 1 + at}`);
    const readAfter = (last: Entity | undefined) => {
      const after = last === undefined ? '' : `AND (${names}) > (${bounds.join(', ')})`;
      const all = last === undefined ? values : [...values, ...order.map((field) => last[field])];
      return this.list(columns, `WHERE ${where} ${after} ORDER BY ${names} LIMIT ${rowsInPage}`, all, table);
    };
    let page = await readAfter(undefined);
    const found = page;
    while (page.length === rowsInPage) {
      page = await turns.next(() => readAfter(found.at(-1)));
      found.push(...page);
    }
    return found;
  }

  protected async count(table: string, where: string, values: readonly unknown[]): Promise<number> {
    const sql = `SELECT count(*) AS found FROM ${this.table(table)} WHERE ${where}`;
    return (await this.get<{ readonly found: number }>(sql, values))?.found ?? 0;
  }

  /**
   * Inserts rows in their order. `head` is the table with its columns, and `tail` what comes after the rows. Returns the rows
   * of `RETURNING`.
   */
  protected async insert<R = Row>(
    head: string,
    rows: readonly (readonly unknown[])[],
    tail: string,
  ): Promise<R[]> {
    const returned: R[] = [];
    for (let at = 0; at < rows.length; ) {
      const size = rowsPerStatement.find((one) => one <= rows.length - at) ?? 1;
      const some = rows.slice(at, at + size);
      const tuples = some.map(
        (row, place) => `(${row.map((_, column) => `$${place * row.length + column + 1}`)})`,
      );
      const sql = `INSERT INTO ${head} VALUES ${tuples.join()} ${tail}`;
      returned.push(...(await this.session.all<R>(sql, some.flat())));
      at += size;
    }
    return returned;
  }

  #select<Entity extends object>(columns: Columns<Entity>, rest: string, table = columns.table): string {
    return `SELECT ${columns.select(table)} FROM ${this.table(table)} ${rest}`;
  }
}
