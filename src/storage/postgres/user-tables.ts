import { CallerStatsError } from '../../domain/errors.js';
import type { UserStatement, UserStatementResult, UserTables } from '../ports/user-tables.js';
import { isConflict } from './connection/errors.js';
import type { OpenDatabase } from './connection/open-database.js';

export class PostgresUserTables implements UserTables {
  readonly dialect = 'postgres';
  readonly schema: string;
  readonly #database: OpenDatabase;

  constructor(database: OpenDatabase, schema: string) {
    this.schema = schema;
    this.#database = database;
  }

  /** One that writes is not repeated. */
  async run({ sql, parameters }: UserStatement): Promise<UserStatementResult> {
    await this.#database.requireReady();
    const { connections } = this.#database;
    try {
      if (!/^\s*select\b/i.test(sql))
        return await connections.write({ text: sql }, parameters, { repeatable: false });
      return { rows: await connections.read({ text: sql }, parameters), changes: 0 };
    } catch (error) {
      if (!isConflict(error)) throw error;
      throw new CallerStatsError('already_exists', 'There is such a row already.', { cause: error });
    }
  }
}
