/** Storage for the sign-in library, which brings its own SQL (see `src/auth/`). */

export interface UserStatement {
  readonly sql: string;
  /** Strings, numbers and null; on PostgreSQL also booleans and dates. */
  readonly parameters: readonly unknown[];
}

export interface UserStatementResult {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Number of changed rows. */
  readonly changes: number;
}

/**
 * The tables `user_account`, `user_session`, `user_credential`, `user_verification`, `user_second_factor` and `user_passkey`. They
 * belong to the sign-in library: it writes the statements, and the store runs them.
 */
export interface UserTables {
  readonly dialect: 'sqlite' | 'postgres';
  /** The schema of the tables; undefined on SQLite. */
  readonly schema: string | undefined;
  /** Runs one statement in its own transaction. `already_exists` if it violates a unique constraint. */
  run(statement: UserStatement): Promise<UserStatementResult>;
}
