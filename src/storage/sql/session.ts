/** The little that the directory needs of a database, so that its rules and SQL exist once for all stores. */

/** A row by its column names. */
export type Row = Readonly<Record<string, unknown>>;

type Awaitable<Value> = Value | Promise<Value>;

/**
 * Runs SQL with the placeholders `$1`, `$2` and so on. SQLite answers at once, so awaiting its answers only takes
 * microtasks: nothing else runs between two statements of a change.
 */
export interface Session {
  all<R = Row>(sql: string, values?: readonly unknown[]): Awaitable<R[]>;
  /** Returns the number of changed rows. */
  run(sql: string, values?: readonly unknown[]): Awaitable<number>;
}

/** What differs between the databases. */
export interface Dialect {
  /** The name of a table, with its schema if it has one. */
  readonly table: (name: string) => string;
  /** What a SELECT ends with to lock its rows until the transaction ends; empty if there is only one writer. */
  readonly lock: (strength: 'SHARE' | 'NO KEY UPDATE' | 'UPDATE' | 'UPDATE SKIP LOCKED') => string;
  /** Continues a WHERE, so that it finds no project that has been deleted and still has queries to remove. */
  readonly andNotDeleted: string;
  /** A subquery that returns the elements of the JSON array in a parameter such as `$1`. */
  readonly jsonElements: (parameter: string) => string;
  /** The column of a project's rows that names the project, and what is in it. Throws `not_found`. */
  readonly projectColumn: string;
  /** The column of a project that is in its rows. */
  readonly projectKeyColumn: string;
  readonly findProjectKey: (session: Session, projectId: string) => Promise<unknown>;
  /** Those of the ids that the project has queries of. */
  readonly findRecordedIds: (
    session: Session,
    projectId: string,
    ids: readonly string[],
  ) => Promise<string[]>;
  /** Deletes a locked project and its keys, and leaves a note of what `purgeDeleted` has to remove. */
  readonly deleteProject: (session: Session, projectId: string, at: number) => Promise<void>;
}

type ResultOf<Method> = Method extends (...args: never) => infer Result ? Result : never;

/** An object with all public methods of a class, each of which passes its name and arguments to `call`. */
export function delegate<Methods extends object>(
  type: new (session: Session, dialect: Dialect) => Methods,
  call: (method: keyof Methods, args: readonly unknown[]) => unknown,
): Methods {
  const names = Object.getOwnPropertyNames(type.prototype).filter((name) => name !== 'constructor');
  const methods = names.map((name) => [name, (...args: unknown[]) => call(name as keyof Methods, args)]);
  return Object.fromEntries(methods) as Methods;
}

/** Calls the method of this name. */
export function invoke<Methods extends object, Name extends keyof Methods>(
  methods: Methods,
  name: Name,
  args: readonly unknown[],
): ResultOf<Methods[Name]> {
  const method = methods[name] as (...args: readonly unknown[]) => ResultOf<Methods[Name]>;
  return Reflect.apply(method, methods, args);
}
