import { CALLER_TYPES } from '../../../domain/queries/caller.js';
import type { Connection } from '../connection.js';
import type { CounterRows } from '../counters/counter-deltas.js';
import { type Prepared, prepare } from '../statements.js';
import { MultiRowInsert, rowsPerStatement, rowsTogetherMin } from './multi-row.js';

/** A table of counters. Its key begins with project, level and bucket. */
interface CounterTable {
  readonly table: string;
  /** The columns after the bucket. */
  readonly columns: readonly string[];
  /** Makes one number of these columns of a row; undefined if they do not fit. */
  readonly pack: (rows: readonly number[], at: number) => number | undefined;
  /** The SQL that makes these columns of the number in `column2`. */
  readonly unpack: string;
  readonly onConflict: string;
  readonly rowsOf: (part: CounterRows) => readonly number[];
}

/** Three of them are the digits of an integer that a double holds exactly. */
const countBits = 17;
const countEnd = 2 ** countBits;

export const TYPE_COUNTERS: CounterTable = {
  table: 'query_counter',
  columns: CALLER_TYPES,
  pack: (rows, at) => {
    const [web = 0, api = 0, other = 0] = [rows[at], rows[at + 1], rows[at + 2]];
    const fits = Math.min(web, api, other) >= 0 && Math.max(web, api, other) < countEnd;
    return fits ? (web * countEnd + api) * countEnd + other : undefined;
  },
  unpack: `column2 >> ${2 * countBits}, column2 >> ${countBits} & ${countEnd - 1}, column2 & ${countEnd - 1}`,
  onConflict: CALLER_TYPES.map((type) => `${type} = ${type} + excluded.${type}`).join(', '),
  rowsOf: ({ types }) => types,
};

const queriesBits = 20;
const queriesEnd = 2 ** queriesBits;
const packedCallersEnd = 2 ** 32;

export const CALLER_COUNTERS: CounterTable = {
  table: 'caller_counter',
  columns: ['caller', 'queries'],
  pack: (rows, at) => {
    const [caller = 0, queries = 0] = [rows[at], rows[at + 1]];
    const fits = caller < packedCallersEnd && queries >= 0 && queries < queriesEnd;
    return fits ? caller * queriesEnd + queries : undefined;
  },
  unpack: `column2 >> ${queriesBits}, column2 & ${queriesEnd - 1}`,
  onConflict: 'queries = queries + excluded.queries',
  rowsOf: ({ callers }) => callers,
};

/** Project, level, and two values for each row. */
const packedValues = 2 + 2 * rowsPerStatement;

/**
 * Adds to counters. Binding a value takes as long as inserting a third of a row, so most rows are bound as two values: the bucket,
 * and a number of all that is counted in it.
 */
export class CounterInsert {
  readonly #of: CounterTable;
  readonly #packed: Prepared<unknown>;
  readonly #plain: MultiRowInsert;
  /** As the one above, but it returns the sums, each with the key of its counter. */
  readonly #returning: MultiRowInsert;

  constructor(db: Connection, of: CounterTable) {
    const { table, columns, unpack, onConflict } = of;
    const head = `INSERT INTO ${table} (project, level, bucket, ${columns.join(', ')})`;
    const tail = `ON CONFLICT DO UPDATE SET ${onConflict}`;
    const values = Array(rowsPerStatement).fill('(?, ?)').join(', ');
    const plain = (returning: string) => new MultiRowInsert(db, head, 3 + columns.length, tail + returning);
    this.#of = of;
    this.#packed = prepare(
      db,
      `${head} SELECT ?, ?, column1, ${unpack} FROM (VALUES ${values}) WHERE column1 IS NOT NULL ${tail}`,
    );
    this.#plain = plain('');
    this.#returning = plain(
      columns.length === CALLER_TYPES.length
        ? ` RETURNING ${columns.join(' + ')}, project, level, bucket`
        : ' RETURNING queries, project, level, bucket, caller',
    );
  }

  add(part: CounterRows): void {
    const rows = this.#of.rowsOf(part);
    const step = rowsPerStatement * this.#rowLength;
    for (let at = 0; at < rows.length; at += step) {
      const some = rows.slice(at, at + step);
      const values = this.#pack(part, some);
      if (values === undefined) this.#plain.insert(this.#withKey(part, some));
      else this.#packed.run(...values);
    }
  }

  /** The same for counters that may become zero: returns each sum, and the key of its counter. */
  change(part: CounterRows): unknown[][] {
    return this.#returning.insert(this.#withKey(part, this.#of.rowsOf(part)));
  }

  get #rowLength(): number {
    return 1 + this.#of.columns.length;
  }

  /** The values of one statement for these rows; undefined if they are few, or one of them does not fit. */
  #pack({ project, level }: CounterRows, rows: readonly number[]): unknown[] | undefined {
    const count = rows.length / this.#rowLength;
    if (count < rowsTogetherMin) return undefined;
    const values: unknown[] = [project, level];
    for (let at = 0; at < rows.length; at += this.#rowLength) {
      const packed = this.#of.pack(rows, at + 1);
      if (packed === undefined) return undefined;
      values.push(rows[at] ?? 0, packed);
    }
    while (values.length < packedValues) values.push(null);
    return values;
  }

  #withKey({ project, level }: CounterRows, rows: readonly number[]): number[] {
    const values: number[] = [];
    for (let at = 0; at < rows.length; at += this.#rowLength)
      values.push(project, level, ...rows.slice(at, at + this.#rowLength));
    return values;
  }
}
