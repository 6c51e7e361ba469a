/** Runs statements on one PostgreSQL database, with deadlines and retries. */
import pg from 'pg';
import { CallerStatsError } from '../../../domain/errors.js';
import { dayMs } from '../../../domain/time/duration.js';
import { withDeadline } from '../../../shared/deadline.js';
import { retry } from '../../../shared/retry.js';
import type { OpenOptions } from '../../ports/open-options.js';
import type { ConnectionPool } from '../../ports/store-stats.js';
import type { Row, Session as SqlSession } from '../../sql/session.js';
import { type Connection, Connections, settingsOf } from './connections.js';
import { diagnose, markUndone, storeError, unavailable } from './errors.js';
import { Hosts } from './hosts.js';
import type { PostgresLocation } from './location.js';

export interface Statement {
  /** The server prepares a statement with a name once per connection, and plans one without a name each time. */
  readonly name?: string;
  readonly text: string;
}

export type DatabaseOptions = Required<Pick<OpenOptions, 'connectionsMax' | 'timeoutMs'>>;

/** One connection, for several statements or for work without the usual deadline. */
export interface Session extends SqlSession {
  /** The first row. */
  get<R = Row>(sql: string, values?: readonly unknown[]): Promise<R | undefined>;
  /** Runs `work` between BEGIN and COMMIT; `mode` follows BEGIN. */
  transaction<T>(work: () => Promise<T>, mode?: string): Promise<T>;
}

/** What a statement returned. Its rows have the type that the caller reads them with: `bytea` is a Buffer. */
interface Answer<R> {
  readonly rows: R[];
  /** The number of changed rows. */
  readonly changes: number;
}

/** Attempts at one statement: enough to survive a broken connection, not enough to wait for a restart of the server. */
const attemptsMax = 4;
const firstWaitMs = 25;

/** The mode of a transaction whose statements all read what was committed when it began. */
export const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ, READ ONLY';

/** Longer than any migration or verification takes. */
const sessionTimeoutMs = dayMs;

/** The hosts, ports and database of a location. Parts that its URL omits come from the environment. Does not connect. */
export function addressesOf({ config, hosts }: PostgresLocation): string[] {
  return hosts.map((one) => {
    const { host, port, database } = new pg.Client({ ...config, ...one });
    return `${host.toLowerCase()}:${port}/${database}`;
  });
}

/** The driver reads one host from `PGHOST`. */
function requireOneOfEnvironment({ config, hosts }: PostgresLocation): void {
  if (hosts[0]?.host !== undefined || !new pg.Client(config).host.includes(',')) return;
  throw new CallerStatsError(
    'invalid',
    'PGHOST names several hosts; name them in the database URL, as postgres://a,b/database?target_session_attrs=read-write',
  );
}

/** Runs all statements of the store. Throws the errors of the port (see `storeError`). */
export class Database {
  readonly #timeoutMs: number;
  /** Reads and writes have separate connections, so that neither waits for the other. */
  readonly #readers: Connections;
  readonly #writers: Connections;

  constructor(location: PostgresLocation, { connectionsMax, timeoutMs }: DatabaseOptions) {
    const writers = Math.floor(connectionsMax / 2);
    requireOneOfEnvironment(location);
    const hosts = new Hosts(location, timeoutMs);
    const open = (purpose: ConnectionPool['purpose'], max: number) =>
      new Connections(location.config, hosts, { purpose, max, timeoutMs });
    this.#timeoutMs = timeoutMs;
    this.#readers = open('read', connectionsMax - writers);
    this.#writers = open('write', writers);
  }

  async read<R = Row>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.#run<R>(this.#readers, statement, values, true)).rows;
  }

  /** Runs reads of one snapshot, within one deadline. `work` may be run again. */
  readTogether<T>(
    work: (read: <R>(statement: Statement, values: readonly unknown[]) => Promise<R[]>) => Promise<T>,
  ): Promise<T> {
    return this.#retry(true, () =>
      this.#readers.use(true, (connection) =>
        sessionOn(connection, this.#timeoutMs).transaction(
          () =>
            work(async <R>(statement: Statement, values: readonly unknown[]) => {
              const { rows } = await ask<R>(connection, statement, values);
              return rows;
            }),
          SNAPSHOT,
        ),
      ),
    );
  }

  /** With `repeatable`, running the statement twice does no harm, so it is also retried after a broken connection. */
  write<R = Row>(
    statement: Statement,
    values: readonly unknown[],
    { repeatable }: { readonly repeatable: boolean },
  ): Promise<Answer<R>> {
    return this.#run(this.#writers, statement, values, repeatable);
  }

  /** Runs `work` in a transaction, within the deadline. It is retried only if it certainly changed nothing. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#retry(false, () =>
      this.#writers.use(true, (connection) => {
        const session = sessionOn(connection, this.#timeoutMs);
        return session.transaction(() => work(session));
      }),
    );
  }

  /** Runs `work` on its own connection, without a deadline. Aborting `signal` ends the connection, so that `work` fails. */
  async session<T>(work: (session: Session) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      // Never reused, because its settings differ from those of the pool.
      return await this.#readers.use(false, async (connection) => {
        signal?.throwIfAborted();
        signal?.addEventListener('abort', () => void connection.end(), { once: true });
        const session = sessionOn(connection, sessionTimeoutMs);
        // Behind a pooler it would apply to others' transactions.
        if (!connection.isShared) await session.run('SET statement_timeout = 0');
        return work(session);
      });
    } catch (error) {
      throw storeError(error);
    }
  }

  get pools(): ConnectionPool[] {
    return [this.#readers.stats, this.#writers.stats];
  }

  /** Waits for statements in progress, and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  #run<R>(
    connections: Connections,
    statement: Statement,
    values: readonly unknown[],
    repeatable: boolean,
  ): Promise<Answer<R>> {
    return this.#retry(repeatable, () =>
      connections.use(true, (connection) => this.#runOn(connection, statement, values)),
    );
  }

  async #runOn<R>(
    connection: Connection,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Answer<R>> {
    const work = () => ask<R>(connection, statement, values);
    return connection.isShared ? sessionOn(connection, this.#timeoutMs).transaction(work) : work();
  }

  /** Retries `work` after a passing error. Work that is not `repeatable` is retried only if it certainly changed nothing. */
  #retry<T>(repeatable: boolean, work: () => Promise<T>): Promise<T> {
    const isRetryable = (error: Error): boolean => {
      if (error instanceof CallerStatsError) return false;
      const { passing, undone } = diagnose(error);
      return passing && (repeatable || undone);
    };
    return withDatabaseDeadline(this.#timeoutMs, async (signal) => {
      try {
        return await retry(work, { attemptsMax, isRetryable, delayMs: backoffMs, signal });
      } catch (error) {
        throw storeError(error);
      }
    });
  }
}

/** Runs `work`, and rejects with `unavailable` if it takes longer than `timeoutMs`. */
export function withDatabaseDeadline<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const message = `The database cannot be used now: it gave no answer within ${timeoutMs} ms.`;
  return withDeadline(timeoutMs, () => unavailable(message), work);
}

/** Runs one statement. */
export async function ask<R>(
  connection: Connection,
  { name, text }: Statement,
  values: readonly unknown[],
): Promise<Answer<R>> {
  const query = { text, values: [...values] };
  // Behind a pooler without a name: another connection to the server may not know what was prepared, and the next
  // transaction has one.
  return toAnswer(
    await connection.query(name === undefined || connection.isShared ? query : { ...query, name }),
  );
}

/** The only place where the driver's `any` gets a type. */
function toAnswer<R>({ rows, rowCount }: pg.QueryResult): Answer<R> {
  return { rows, changes: rowCount ?? 0 };
}

function sessionOn(connection: Connection, timeoutMs: number): Session {
  const execute = async <R>(text: string, values: readonly unknown[] = []): Promise<Answer<R>> =>
    toAnswer(
      await connection.query({
        text,
        values: [...values],
        query_timeout: timeoutMs,
        // Refuses several statements in one text, of which Citus would send all to its workers for each of them.
        queryMode: 'extended',
      } as pg.QueryConfig),
    );
  const run = async (sql: string, values?: readonly unknown[]) => (await execute(sql, values)).changes;
  return {
    all: async <R>(sql: string, values?: readonly unknown[]) => (await execute<R>(sql, values)).rows,
    get: async <R>(sql: string, values?: readonly unknown[]) => (await execute<R>(sql, values)).rows[0],
    run,
    transaction: async (work, mode = '') => {
      let isCommitting = false;
      try {
        await connection.query({
          text: beginOn(connection, mode, timeoutMs),
          query_timeout: timeoutMs,
        } as pg.QueryConfig);
        const result = await work();
        isCommitting = true;
        await run('COMMIT');
        return result;
      } catch (error) {
        if (!isCommitting) markUndone(error);
        // Only the error of `work` matters, and the connection is not used again.
        await run('ROLLBACK').catch(() => {});
        throw error;
      }
    },
  };
}

/** Behind a pooler, the settings must be made in each transaction. */
function beginOn({ isShared }: Connection, mode: string, timeoutMs: number): string {
  if (!isShared) return `BEGIN ${mode}`;
  // A session has no deadline on the server.
  const serverTimeoutMs = timeoutMs === sessionTimeoutMs ? 0 : timeoutMs;
  return `BEGIN ${mode === '' ? 'ISOLATION LEVEL READ COMMITTED' : mode}; ${settingsOf(serverTimeoutMs)}`;
}

/** Doubles with each attempt. Random by up to a half, so that nodes do not return all at once. */
function backoffMs(attempt: number): number {
  return firstWaitMs * 2 ** attempt * (0.5 + Math.random() / 2);
}
