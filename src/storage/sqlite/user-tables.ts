import { CallerStatsError } from '../../domain/errors.js';
import type { UserStatement, UserStatementResult, UserTables } from '../ports/user-tables.js';
import type { Connection } from './connection.js';
import { isConflict } from './errors.js';

/** `read` runs statements that only read, and `write` passes all others to the writer. */
export function userTablesOver(
  read: <T>(work: (db: Connection) => T) => T,
  write: (statement: UserStatement) => Promise<UserStatementResult>,
): UserTables {
  return {
    dialect: 'sqlite',
    schema: undefined,
    run: async (statement) => {
      const { sql, parameters } = statement;
      if (!/^\s*select\b/i.test(sql)) return write(statement);
      return { rows: read((db) => db.prepare(sql).all(...parameters)), changes: 0 };
    },
  };
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
