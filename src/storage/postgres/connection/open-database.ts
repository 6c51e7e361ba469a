/** A database with the schema of this program: what the parts of the store have in common. */

import type { ConnectionPool } from '../../ports/store-stats.js';
import type { Dialect, Row, Session as SqlSession } from '../../sql/session.js';
import { dialectFor } from '../dialect.js';
import { type PostgresOptions, SchemaReadiness } from '../migrations/schema-readiness.js';
import { type StatementName, type Statements, statementsIn } from '../statements/statements.js';
import { Database, type Session, withDatabaseDeadline } from './database.js';
import { unavailable } from './errors.js';
import type { PostgresLocation } from './location.js';
import { type RecordingName, Workers } from './workers.js';

/** Runs a statement that reads, prepared under its name. */
export type ReadStatement = <R = Row>(name: StatementName, values?: readonly unknown[]) => Promise<R[]>;

export class OpenDatabase {
  readonly connections: Database;
  readonly schema: SchemaReadiness;
  readonly statements: Statements;
  readonly dialect: Dialect;
  /** The deadline of each read and change. */
  readonly timeoutMs: number;
  /** Runs reads and repeatable changes, each of which is one statement. */
  readonly session: SqlSession = {
    all: async <R>(text: string, values?: readonly unknown[]) => {
      await this.requireReady();
      return this.connections.read<R>({ text }, values);
    },
    run: async (text, values = []) => {
      await this.requireReady();
      return (await this.connections.write({ text }, values, { repeatable: true })).changes;
    },
  };
  readonly #workers: Workers;
  /** The last change in order. */
  #turn: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(location: PostgresLocation, options: PostgresOptions) {
    this.connections = new Database(location, options);
    this.schema = new SchemaReadiness(this.connections, location, options);
    this.statements = statementsIn(location.schema);
    this.#workers = new Workers(this.connections, this.statements, location, options);
    this.dialect = dialectFor(location.schema);
    this.timeoutMs = options.timeoutMs;
  }

  /** Runs a statement that reads, prepared under its name. */
  async read<R = Row>(name: StatementName, values: readonly unknown[] = []): Promise<R[]> {
    await this.requireReady();
    return this.connections.read({ name, text: this.statements[name] }, values);
  }

  /** Runs a statement that reads one project, the first value, as `read` does: on its worker if there is a cluster. */
  async readProject<R = Row>(name: StatementName, values: readonly unknown[] = []): Promise<R[]> {
    await this.requireReady();
    const statement = { name, text: this.statements[name] };
    const rows = await this.#workers.read<R>(String(values[0]), statement, values);
    if (rows !== undefined) return rows;
    await this.#workers.settle(String(values[0]));
    return this.connections.read(statement, values);
  }

  /** Calls a function that records, of which the project is the first value: on its worker if there is a cluster. */
  async record<R>(name: RecordingName, values: readonly unknown[]): Promise<R[]> {
    await this.schema.ready();
    const rows = await this.#workers.record<R>(name, values);
    if (rows !== undefined) return rows;
    // Without a name, so that each call is planned with its project: Citus then sends all of it to the project's server.
    const statement = { text: this.statements[name] };
    return (await this.connections.write<R>(statement, values, { repeatable: true })).rows;
  }

  /** The same, if the access with these stamps is still the same. Only where `findAccess` gives stamps: without a cluster. */
  async recordProved<R>(name: `${RecordingName}Proved`, values: readonly unknown[]): Promise<R[]> {
    await this.schema.ready();
    const statement = { name, text: this.statements[name] };
    return (await this.connections.write<R>(statement, values, { repeatable: true })).rows;
  }

  /** Runs statements that read one snapshot of a project, within the deadline. `work` may be run again. */
  async readTogether<T>(projectId: string, work: (read: ReadStatement) => Promise<T>): Promise<T> {
    await this.requireReady();
    await this.#workers.settle(projectId);
    return this.connections.readTogether((read) =>
      work((name, values = []) => read({ name, text: this.statements[name] }, values)),
    );
  }

  /** Runs a change in its own transaction, after all earlier ones of this object, on any connection. */
  async changeInOrder<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.requireOpen();
    const done = this.#turn.then(() => this.#inTransaction(work));
    this.#turn = done.catch(() => {});
    return withDatabaseDeadline(this.timeoutMs, () => done);
  }

  /** Runs a change in its own transaction, beside all others. */
  async change<T>(work: (session: Session) => Promise<T>): Promise<T> {
    this.requireOpen();
    return withDatabaseDeadline(this.timeoutMs, () => this.#inTransaction(work));
  }

  /**
   * Runs a change of one project, as `change`. On a cluster it holds the shard first. Otherwise it could lock rows of one that is being
   * split, beside another change that locks them in the new one.
   */
  async changeProject<T>(projectId: string, work: (session: Session) => Promise<T>): Promise<T> {
    this.requireOpen();
    const isCluster = await this.#workers.isCluster();
    return this.change(async (session) => {
      if (isCluster) await session.run(this.statements.holdShard, [projectId]);
      return work(session);
    });
  }

  get pools(): ConnectionPool[] {
    return [...this.connections.pools, ...this.#workers.pools];
  }

  requireOpen(): void {
    if (this.#isClosed) throw unavailable('The store is closing.');
  }

  async requireReady(): Promise<void> {
    this.requireOpen();
    await this.schema.ready();
  }

  /** Refuses what is asked from now on. */
  refuse(): void {
    this.#isClosed = true;
  }

  /** Closes the connections, once the changes in order have finished. */
  async close(): Promise<void> {
    await this.#turn;
    this.schema.giveUp();
    await Promise.all([this.connections.close(), this.#workers.end()]);
  }

  async #inTransaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    await this.schema.ready();
    return this.connections.transaction(work);
  }
}
