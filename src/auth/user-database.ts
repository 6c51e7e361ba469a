/** The tables of users as the sign-in library wants them: a Kysely database whose statements the store runs. */
import {
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { UserTables } from '../storage/ports/user-tables.js';

/** Columns are `like_this` in the database and `likeThis` in the library. */
export function userDatabase(tables: UserTables): Kysely<object> {
  const database = new Kysely<object>({ dialect: createDialect(tables), plugins: [new CamelCasePlugin()] });
  return tables.schema === undefined ? database : (database.withSchema(tables.schema) as Kysely<object>);
}

function createDialect(tables: UserTables): Dialect {
  const createDriver = () => new StoreDriver(tables);
  return tables.dialect === 'sqlite'
    ? {
        createAdapter: () => new SqliteAdapter(),
        createDriver,
        createIntrospector: (database) => new SqliteIntrospector(database),
        createQueryCompiler: () => new SqliteQueryCompiler(),
      }
    : {
        createAdapter: () => new PostgresAdapter(),
        createDriver,
        createIntrospector: (database) => new PostgresIntrospector(database),
        createQueryCompiler: () => new PostgresQueryCompiler(),
      };
}

/** The store has the connections; each statement is a transaction of its own. */
class StoreDriver implements Driver {
  readonly #connection: DatabaseConnection;

  constructor(tables: UserTables) {
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const { rows, changes } = await tables.run({ sql, parameters });
        return { rows: rows as R[], numAffectedRows: BigInt(changes) };
      },
      streamQuery() {
        throw new Error('the tables of users are not read as streams');
      },
    };
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  async beginTransaction(): Promise<void> {
    throw new Error('the tables of users know no transactions of more than one statement');
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {}
}
