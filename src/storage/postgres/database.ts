/** Connections to one PostgreSQL database: pools, deadlines, and what is tried again. */
import pg, { type PoolClient } from 'pg';
import { CallerStatsError } from '../../domain/errors.js';
import { dayMs } from '../../domain/time/duration.js';
import { withDeadline } from '../../shared/deadline.js';
import { retry } from '../../shared/retry.js';
import type { ConnectionPool } from '../ports/store-stats.js';
import { diagnose, storeError, unavailable } from './errors.js';
import type { PostgresLocation } from './location.js';

/** A row by its columns' names. `bigint` comes as text, `bytea` as a Buffer. */
export type Row = Readonly<Record<string, unknown>>;

export interface Statement {
  /** Under which the server keeps it prepared, one for each connection; none for what should be planned each time. */
  readonly name?: string;
  readonly text: string;
}

export interface DatabaseOptions {
  /** Connections at once, of reads and writes together; at least 2. */
  readonly connectionsMax: number;
  /** Milliseconds until a read or write that got no answer is given up. */
  readonly timeoutMs: number;
}

/** One connection, for work that takes more than one statement, or longer than the deadline of the others. */
export interface Session {
  readonly query: (text: string, values?: readonly unknown[]) => Promise<Row[]>;
  /** Runs a statement and returns the number of changed rows. */
  readonly run: (text: string, values?: readonly unknown[]) => Promise<number>;
  /** Runs `work` between BEGIN and COMMIT; `mode` follows BEGIN. */
  readonly transaction: <T>(work: () => Promise<T>, mode?: string) => Promise<T>;
}

/** Attempts at one statement. With the waits between them they outlast a broken connection, but not a restart. */
const attemptsMax = 4;
const firstWaitMs = 25;

/** Longer than any migration or recount; a connection that is dead by then is given up. */
const sessionTimeoutMs = dayMs;

const connectionIdleMs = 30_000;

/**
 * What each connection is told first. An acknowledged query is on disk, whatever the database's default says; what
 * waits for standby servers beyond that is left as it is. A statement whose client has given up is given up as well.
 */
const SET_UP = `
  SELECT set_config('statement_timeout', $1, false), set_config('default_transaction_isolation', 'read committed', false),
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
      WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)`;

/** Host, port and database of a location, with what its URL leaves to the environment. Connects to nothing. */
export function addressOf({ config }: PostgresLocation): string {
  const { host, port, database } = new pg.Client(config);
  return `${host.toLowerCase()}:${port}/${database}`;
}

/** All that the store asks of the database goes through here. Errors are those of the port (`storeError`). */
export class Database {
  readonly #timeoutMs: number;
  /** Reads and writes have connections of their own, so that neither waits for the other's. */
  readonly #readers: pg.Pool;
  readonly #writers: pg.Pool;

  constructor({ config }: PostgresLocation, { connectionsMax, timeoutMs }: DatabaseOptions) {
    const writers = Math.floor(connectionsMax / 2);
    this.#timeoutMs = timeoutMs;
    this.#readers = openPool(config, connectionsMax - writers, timeoutMs);
    this.#writers = openPool(config, writers, timeoutMs);
  }

  read(statement: Statement, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#run(this.#readers, statement, values, true);
  }

  /**
   * `repeatable` says that doing it twice is as good as once: then a broken connection, too, is no reason to fail.
   */
  write(
    statement: Statement,
    values: readonly unknown[],
    { repeatable }: { repeatable: boolean },
  ): Promise<Row[]> {
    return this.#run(this.#writers, statement, values, repeatable);
  }

  /** Runs a statement on a connection for reads or for writes, and returns how many rows it changed. */
  execute(
    text: string,
    values: readonly unknown[],
    { reads, repeatable = reads }: { readonly reads: boolean; readonly repeatable?: boolean },
  ): Promise<{ readonly rows: Row[]; readonly changes: number }> {
    return this.#retry(repeatable, async () => {
      const pool = reads ? this.#readers : this.#writers;
      const { rows, rowCount } = await pool.query<Row>({ text, values: [...values] });
      return { rows, changes: reads ? 0 : (rowCount ?? 0) };
    });
  }

  /** Runs `work` in a transaction, within the deadline; tried again only where that is sure to have changed nothing. */
  transaction<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#retry(false, async () => {
      const client = await this.#writers.connect();
      client.on('error', ignore);
      let failed: Error | undefined;
      try {
        const session = sessionOn(client, this.#timeoutMs);
        return await session.transaction(() => work(session));
      } catch (error) {
        failed = error as Error;
        throw error;
      } finally {
        client.off('error', ignore);
        client.release(failed);
      }
    });
  }

  /** Gives `work` a connection of its own, without a deadline; it is cut, and `work` fails, once `signal` is aborted. */
  async session<T>(work: (session: Session) => Promise<T>, signal?: AbortSignal): Promise<T> {
    let client: PoolClient | undefined;
    let broken: Error | undefined;
    const cut = () => void client?.end();
    signal?.addEventListener('abort', cut);
    try {
      client = await this.#readers.connect();
      client.on('error', ignore);
      signal?.throwIfAborted();
      const session = sessionOn(client, sessionTimeoutMs);
      await session.query('SET statement_timeout = 0');
      return await work(session);
    } catch (error) {
      broken = error instanceof Error ? error : new Error(String(error));
      throw storeError(error);
    } finally {
      signal?.removeEventListener('abort', cut);
      // Never reused: its settings are not those of the others.
      client?.release(broken ?? true);
    }
  }

  get pools(): ConnectionPool[] {
    return [poolOf('read', this.#readers), poolOf('write', this.#writers)];
  }

  /** Waits for what is under way and lets go of all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#readers.end(), this.#writers.end()]);
  }

  async #run(
    pool: pg.Pool,
    { name, text }: Statement,
    values: readonly unknown[],
    repeatable: boolean,
  ): Promise<Row[]> {
    const query = { text, values: [...values], ...(name === undefined ? {} : { name }) };
    return this.#retry(repeatable, async () => (await pool.query<Row>(query)).rows);
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
    ...config,
    max,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    idleTimeoutMillis: connectionIdleMs,
    onConnect: async (client) => {
      await client.query(SET_UP, [String(timeoutMs)]);
    },
  });
  // A connection that breaks while nobody uses it is dropped by the pool, and the next statement gets another.
  pool.on('error', () => {});
  return pool;
}

function poolOf(purpose: ConnectionPool['purpose'], pool: pg.Pool): ConnectionPool {
  const { totalCount, idleCount, waitingCount, options } = pool;
  return { purpose, max: options.max, used: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
}

/** A connection that breaks says so to its statement, and with an event that would end the process if nobody heard. */
function ignore(): void {}

function sessionOn(client: PoolClient, timeoutMs: number): Session {
  const execute = (text: string, values: readonly unknown[] = []): Promise<pg.QueryResult<Row>> =>
    client.query<Row>({ text, values: [...values], query_timeout: timeoutMs } as pg.QueryConfig);
  const query: Session['query'] = async (...statement) => (await execute(...statement)).rows;
  const run: Session['run'] = async (...statement) => (await execute(...statement)).rowCount ?? 0;
  const transaction = async <T>(work: () => Promise<T>, mode = ''): Promise<T> => {
    await query(`BEGIN ${mode}`);
    try {
      const result = await work();
      await query('COMMIT');
      return result;
    } catch (error) {
      // Whatever stopped the work is what matters; the connection is not used again.
      await query('ROLLBACK').catch(() => {});
      throw error;
    }
  };
  return { query, run, transaction };
}

/** Doubles with each attempt. Random by up to a half, so that nodes do not return all at once. */
function backoffMs(attempt: number): number {
  return firstWaitMs * 2 ** attempt * (0.5 + Math.random() / 2);
}
