/** Connections to one PostgreSQL database: pools, deadlines and retries. */
import pg, { type PoolClient } from 'pg';
import { CallerStatsError } from '../../domain/errors.js';
import { dayMs } from '../../domain/time/duration.js';
import { withDeadline } from '../../shared/deadline.js';
import { retry } from '../../shared/retry.js';
import type { OpenOptions } from '../ports/open-options.js';
import type { ConnectionPool } from '../ports/store-stats.js';
import type { Row, Session as SqlSession } from '../sql/session.js';
import { diagnose, storeError, unavailable } from './errors.js';
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

/** Longer than any migration or verification takes. */
const sessionTimeoutMs = dayMs;

const connectionIdleMs = 30_000;

/** Reads `bigint` as a number. All of ours are times, buckets and counts, which are less than 2^53. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * The settings of each connection. A commit returns only when it is on disk, even if the database's default is `off`; other
 * values, which concern standby servers, stay. The server cancels a statement when its deadline has passed.
 */
const SET_UP = `
  SELECT set_config('statement_timeout', $1, false), set_config('default_transaction_isolation', 'read committed', false),
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
      WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)`;

/** The host, port and database of a location. Parts that its URL omits come from the environment. Does not connect. */
export function addressOf({ config }: PostgresLocation): string {
  const { host, port, database } = new pg.Client(config);
  return `${host.toLowerCase()}:${port}/${database}`;
}

/** Runs all statements of the store. Throws the errors of the port (see `storeError`). */
export class Database {
  readonly #timeoutMs: number;
  /** Reads and writes have separate connections, so that neither waits for the other. */
  readonly #readers: pg.Pool;
  readonly #writers: pg.Pool;

  constructor({ config }: PostgresLocation, { connectionsMax, timeoutMs }: DatabaseOptions) {
    const writers = Math.floor(connectionsMax / 2);
    this.#timeoutMs = timeoutMs;
    this.#readers = openPool(config, connectionsMax - writers, timeoutMs);
    this.#writers = openPool(config, writers, timeoutMs);
  }

  async read<R = Row>(statement: Statement, values: readonly unknown[] = []): Promise<R[]> {
    return (await this.#run<R>(this.#readers, statement, values, true)).rows;
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
      withClient(this.#writers, true, (client) => {
        const session = sessionOn(client, this.#timeoutMs);
        return session.transaction(() => work(session));
      }),
    );
  }

  /** Runs `work` on its own connection, without a deadline. Aborting `signal` ends the connection, so that `work` fails. */
  async session<T>(work: (session: Session) => Promise<T>, signal?: AbortSignal): Promise<T> {
    try {
      // Never reused, because its settings differ from those of the pool.
      return await withClient(this.#readers, false, async (client) => {
        signal?.throwIfAborted();
        signal?.addEventListener('abort', () => void client.end(), { once: true });
        const session = sessionOn(client, sessionTimeoutMs);
        await session.run('SET statement_timeout = 0');
        return work(session);
      });
    } catch (error) {
      throw storeError(error);
    }
  }

  get pools(): ConnectionPool[] {
    return [poolOf('read', this.#readers), poolOf('write', this.#writers)];
  }

  /** Waits for statements in progress, and closes all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  #run<R>(
    pool: pg.Pool,
    { name, text }: Statement,
    values: readonly unknown[],
    repeatable: boolean,
  ): Promise<Answer<R>> {
    const query = { text, values: [...values], ...(name === undefined ? {} : { name }) };
    return this.#retry(repeatable, async () => toAnswer<R>(await pool.query(query)));
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

function openPool(config: pg.ClientConfig, max: number, timeoutMs: number): pg.Pool {
  const pool = new pg.Pool({
    application_name: 'caller-stats',
    keepAlive: true,
    types: TYPES,
    ...config,
    max,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    idleTimeoutMillis: connectionIdleMs,
    onConnect: async (client) => {
      await client.query(SET_UP, [String(timeoutMs)]);
    },
  });
  // The pool drops an idle connection that breaks, and the next statement gets another one.
  pool.on('error', () => {});
  return pool;
}

/** Runs `work` on a connection of the pool. The pool closes it afterwards if `work` failed, or if it is not reusable. */
async function withClient<T>(
  pool: pg.Pool,
  isReusable: boolean,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  client.on('error', ignore);
  let isBroken = true;
  try {
    const result = await work(client);
    isBroken = false;
    return result;
  } finally {
    client.off('error', ignore);
    client.release(isBroken || !isReusable);
  }
}

function poolOf(purpose: ConnectionPool['purpose'], pool: pg.Pool): ConnectionPool {
  const { totalCount, idleCount, waitingCount, options } = pool;
  return { purpose, max: options.max, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** A connection that breaks also rejects its statement. Without a listener, its `error` event would stop Node. */
function ignore(): void {}

/** The only place where the driver's `any` gets a type. */
function toAnswer<R>({ rows, rowCount }: pg.QueryResult): Answer<R> {
  return { rows, changes: rowCount ?? 0 };
}

function sessionOn(client: PoolClient, timeoutMs: number): Session {
  const execute = async <R>(text: string, values: readonly unknown[] = []): Promise<Answer<R>> =>
    toAnswer(await client.query({ text, values: [...values], query_timeout: timeoutMs } as pg.QueryConfig));
  const run = async (sql: string, values?: readonly unknown[]) => (await execute(sql, values)).changes;
  return {
    all: async <R>(sql: string, values?: readonly unknown[]) => (await execute<R>(sql, values)).rows,
    get: async <R>(sql: string, values?: readonly unknown[]) => (await execute<R>(sql, values)).rows[0],
    run,
    transaction: async (work, mode = '') => {
      await run(`BEGIN ${mode}`);
      try {
        const result = await work();
        await run('COMMIT');
        return result;
      } catch (error) {
        // Only the error of `work` matters, and the connection is not used again.
        await run('ROLLBACK').catch(() => {});
        throw error;
      }
    },
  };
}

/** Doubles with each attempt. Random by up to a half, so that nodes do not return all at once. */
function backoffMs(attempt: number): number {
  return firstWaitMs * 2 ** attempt * (0.5 + Math.random() / 2);
}
