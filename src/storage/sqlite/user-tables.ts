import { CallerStatsError } from '../../domain/errors.js';
import type { UserStatement, UserStatementResult, UserTables } from '../ports/user-tables.js';
import type { Connection } from './connection.js';
import { isConflict } from './errors.js';

/** Runs statements that only read on this thread, and passes all others to the writer. */
interface Statements {
  read<T>(work: (reader: { readonly db: Connection }) => T): T;
  submit(operation: UserStatement & { readonly kind: 'userStatement' }): Promise<UserStatementResult>;
}

export class SqliteUserTables implements UserTables {
  readonly dialect = 'sqlite';
  readonly schema = undefined;
  readonly #file: Statements;

  constructor(file: Statements) {
    this.#file = file;
  }

  async run(statement: UserStatement): Promise<UserStatementResult> {
    const { sql, parameters } = statement;
    if (!/^\s*select\b/i.test(sql)) return this.#file.submit({ kind: 'userStatement', sql, parameters });
    return { rows: this.#file.read(({ db }) => db.prepare(sql).all(...parameters)), changes: 0 };
  }
}

/** Runs a statement that writes. If it fails it has changed nothing, so its transaction can go on. */
export function runUserStatement(db: Connection, { sql, parameters }: UserStatement): UserStatementResult {
  const statement = db.prepare(sql);
  try {
    if (/\breturning\b/i.test(sql)) {
      const rows = statement.all(...parameters).map((row: object) => ({ ...row }));
      return { rows, changes: rows.length };
    }
    return { rows: [], changes: Number(statement.run(...parameters).changes) };
  } catch (error) {
    if (isConflict(error)) throw new CallerStatsError('already_exists', 'There is such a row already.');
    throw error;
  }
}
