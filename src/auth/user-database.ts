/** The database of the sign-in library: Kysely, with the store as its driver. */
import {
  CamelCasePlugin,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  DummyDriver,
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

/** Translates names between `snake_case` columns and `camelCase` fields. */
export function userDatabase(tables: UserTables): Kysely<object> {
  const database = new Kysely<object>({ dialect: createDialect(tables), plugins: [new CamelCasePlugin()] });
  return tables.schema === undefined ? database : (database.withSchema(tables.schema) as Kysely<object>);
}

function createDialect(tables: UserTables): Dialect {
  const [Adapter, Introspector, QueryCompiler] =
    tables.dialect === 'sqlite'
      ? [SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler]
      : [PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler];
  return {
    createAdapter: () => new Adapter(),
    createDriver: () => new StoreDriver(tables),
    createIntrospector: (database) => new Introspector(database),
    createQueryCompiler: () => new QueryCompiler(),
  };
}

/** Runs each statement in its own transaction. */
class StoreDriver extends DummyDriver {
  readonly #connection: DatabaseConnection;

  constructor(tables: UserTables) {
    super();
    this.#connection = {
      async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
        const { rows, changes } = await tables.run({ sql, parameters });
        return { rows: rows as R[], numAffectedRows: BigInt(changes) };
      },
      streamQuery() {
        throw new Error('the user tables do not support streams');
      },
    };
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return this.#connection;
  }

  override async beginTransaction(): Promise<void> {
    throw new Error('the user tables do not support transactions');
  }
}
