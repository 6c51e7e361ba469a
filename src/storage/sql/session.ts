/** The little that this folder needs of a database, so that its rules and SQL exist once for all stores. */

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
  /** The counters by caller type, as in `table`. */
  readonly typeCounters: string;
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
  /** Comes before the row of a project is locked; see `OpenDatabase.changeProject`. */
  readonly holdProject: (session: Session, projectId: string) => Awaitable<unknown>;
  /** Waits for the recordings into a locked project that are in progress, and lets others wait until the transaction ends. */
  readonly stopRecording: (session: Session, projectId: string) => Promise<void>;
  /** Follows the creation and each change of a project, in the same transaction. */
  readonly projectChanged: (session: Session, projectId: string) => Awaitable<void>;
  /** Deletes a locked project and its keys, and leaves a note of what `purgeDeleted` has to remove. */
  readonly deleteProject: (session: Session, projectId: string, at: number) => Promise<void>;
}

/** The parameters of the methods of a part of the store. */
export type ArgsOf<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: infer Args) => unknown ? Args : never;
};

/** What the methods of a part resolve with. */
export type ResultsOf<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends (...args: never) => Promise<infer Result>
    ? Result
    : never;
};

type MethodsOf<Part> = {
  readonly [Name in keyof Part]: (...args: ArgsOf<Part>[Name]) => Promise<ResultsOf<Part>[Name]>;
};

/** Runs a method of a part in a transaction of its own, on whichever thread or connection makes changes. */
export type Run<Part> = <Name extends keyof Part>(
  method: Name,
  args: ArgsOf<Part>[Name],
) => Promise<ResultsOf<Part>[Name]>;

/** Calls the method of this name. */
export function call<Part extends MethodsOf<Part>, Name extends keyof Part>(
  part: Part,
  method: Name,
  args: ArgsOf<Part>[Name],
): Promise<ResultsOf<Part>[Name]> {
  const methods: MethodsOf<Part> = part;
  return methods[method](...args);
}
