/** A pool of connections to one database. Each is set up when it is made, and knows what it is connected to. */
import type { Duplex } from 'node:stream';
import pg from 'pg';
import type { ConnectionPool } from '../../ports/store-stats.js';
import { DoubtfulCommit, isReadOnlyServer, markUndone } from './errors.js';
import { type Candidate, type Hosts, requireTarget, type ServerState } from './hosts.js';

export interface ConnectionsOptions {
  readonly purpose: ConnectionPool['purpose'];
  readonly max: number;
  readonly timeoutMs: number;
  /** Throws if a new connection is to another server than it should. */
  readonly requireServer?: (connection: Connection) => Promise<void>;
}

const connectionIdleMs = 30_000;

/** A smaller piece is a whole answer, or the end of one. */
const largePieceBytes = 16 * 1024;

/** Reads `bigint` as a number. All of ours are times, buckets and counts, which are less than 2^53. */
const TYPES = new pg.TypeOverrides();
TYPES.setTypeParser(pg.types.builtins.INT8, Number);

/**
 * A commit returns only when it is on disk, even if the database's default is `off`; other values, which concern standby
 * servers, stay.
 */
const DURABLE = `CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END`;

/**
 * The settings of each connection: durable commits, a deadline after which the server cancels a statement, read committed, no
 * compilation of statements, which takes longer than any of ours on large tables.
 * A pooler gives each transaction another connection to the server, which other programs use as well. Its process is not
 * the one that answered when this connection was made. Then the settings apply to this statement alone, and each transaction
 * makes its own (`settingsOf`).
 */
const SET_UP = `
  SELECT direct IS NOT TRUE AS "isShared", pg_is_in_recovery() AS "isStandby",
    current_setting('transaction_read_only') = 'on' AS "isReadOnly",
    set_config('statement_timeout', $1, direct IS NOT TRUE),
    set_config('default_transaction_isolation', 'read committed', direct IS NOT TRUE),
    set_config('jit', 'off', direct IS NOT TRUE),
    set_config('synchronous_commit', ${DURABLE}, direct IS NOT TRUE)
  FROM (SELECT pg_backend_pid() = $2::integer AS direct) AS process`;

/** Makes the settings for the rest of a transaction that has just begun with BEGIN. */
export function settingsOf(timeoutMs: number): string {
  return `SELECT set_config('statement_timeout', '${timeoutMs}', true), set_config('synchronous_commit', ${DURABLE}, true),
    set_config('jit', 'off', true)`;
}

/**
 * Warnings that come with a commit's success, by the server's function that gives them: messages are translated. Nothing
 * that may be lost is acknowledged.
 */
const DOUBTS: ReadonlyMap<string, string> = new Map([
  // Somebody cancelled the statement that waited: its commit is on the disk of its server alone.
  ['SyncRepWaitForLSN', 'the wait for a standby server was cancelled'],
  // In a transaction, Citus does not take `record` for a change, and reports success although the worker's commit failed.
  ['FinishRemoteTransactionCommit', 'a server of the cluster did not confirm a commit'],
]);

/** A connection to the host that is current when it is made. */
export class Connection extends pg.Client {
  readonly candidate: Candidate;
  readonly generation: number;
  readonly #hosts: Hosts;
  #isShared = false;
  #doubt: string | undefined;

  constructor(config: pg.ClientConfig, hosts: Hosts) {
    const candidate = hosts.current;
    // The pool hides the password from the enumerable properties.
    const { password } = config;
    const { connectTimeoutMs: connectionTimeoutMillis } = hosts;
    super({ ...config, password, host: candidate.host, port: candidate.port, connectionTimeoutMillis });
    this.candidate = candidate;
    this.generation = hosts.generationOf(candidate);
    this.#hosts = hosts;
    this.on('notice', ({ routine = '' }) => {
      this.#doubt ??= DOUBTS.get(routine);
    });
  }

  /** Whether a pooler gives each transaction another connection to the server. */
  get isShared(): boolean {
    return this.#isShared;
  }

  /** The pool connects in this way. */
  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<pg.Client> | undefined {
    if (callback === undefined) return super.connect();
    super.connect((error: Error | null) => {
      if (error !== null && error !== undefined) this.#hosts.leave(this.candidate, error);
      callback(error);
    });
    return undefined;
  }

  /** Sets up a new connection, and throws if the server is not what is asked for. */
  async setUp(timeoutMs: number): Promise<void> {
    try {
      await this.#settle(timeoutMs);
    } catch (error) {
      this.#hosts.leave(this.candidate, error);
      throw error;
    }
    this.#hosts.keep(this.candidate);
    this.#readInTurns();
  }

  /** Without this, Node passes on up to 32 pieces of an answer in one turn of the event loop, and parsing their rows takes over 50 ms. */
  #readInTurns(): void {
    const { stream } = (this as unknown as { readonly connection: { readonly stream: Duplex } }).connection;
    stream.on('data', ({ length }: Buffer) => {
      if (length < largePieceBytes) return;
      stream.pause();
      setImmediate(() => stream.resume());
    });
  }

  async #settle(timeoutMs: number): Promise<void> {
    const { processID } = this as { readonly processID?: number | null };
    const { rows } = await this.query<ServerState & { readonly isShared: boolean }>(SET_UP, [
      String(timeoutMs),
      processID,
    ]);
    const [state] = rows;
    if (state === undefined) throw new Error('Invariant violated: a set-up returns one row.');
    requireTarget(this.candidate.target, state);
    this.#isShared = state.isShared;
  }

  /** Throws if the server has warned of a commit on this connection. */
  requireCertain(): void {
    if (this.#doubt !== undefined) throw new DoubtfulCommit(this.#doubt);
  }
}

export class Connections {
  readonly #purpose: ConnectionPool['purpose'];
  readonly #hosts: Hosts;
  readonly #pool: pg.Pool;

  constructor(config: pg.ClientConfig, hosts: Hosts, options: ConnectionsOptions) {
    const { purpose, max, timeoutMs, requireServer } = options;
    this.#purpose = purpose;
    this.#hosts = hosts;
    this.#pool = new pg.Pool({
      application_name: 'caller-stats',
      keepAlive: true,
      types: TYPES,
      ...config,
      max,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      idleTimeoutMillis: connectionIdleMs,
      Client: this.#connectionClass(),
      onConnect: async (client) => {
        await (client as Connection).setUp(timeoutMs);
        await requireServer?.(client as Connection);
      },
    });
    // The pool drops an idle connection that breaks, and the next statement gets another one.
    this.#pool.on('error', ignore);
  }

  get stats(): ConnectionPool {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    return {
      purpose: this.#purpose,
      max: options.max,
      used: totalCount - idleCount,
      idle: idleCount,
      waiting: waitingCount,
    };
  }

  /** Runs `work` on a connection. It is closed afterwards if `work` failed, or if it is not reusable. */
  async use<T>(isReusable: boolean, work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = await this.#connect();
    connection.on('error', ignore);
    let isBroken = true;
    try {
      const result = await work(connection);
      connection.requireCertain();
      isBroken = false;
      return result;
    } catch (error) {
      if (isReadOnlyServer(error)) this.#hosts.distrust(connection.candidate, error);
      throw error;
    } finally {
      connection.off('error', ignore);
      connection.release(isBroken || !isReusable);
    }
  }

  /** Waits for statements in progress, and closes all connections. */
  end(): Promise<void> {
    return this.#pool.end();
  }

  async #connect(): Promise<pg.PoolClient & Connection> {
    for (let tries = 1; ; ) {
      const before = this.#hosts.current;
      try {
        const client = (await this.#pool.connect()) as pg.PoolClient & Connection;
        if (client.generation === this.#hosts.generationOf(client.candidate)) return client;
        client.release(true);
      } catch (error) {
        // Only a connection that failed changes the current host, not one that was waited for too long.
        if (tries++ < this.#hosts.size && this.#hosts.current !== before) continue;
        const explained = this.#hosts.explain(error);
        markUndone(explained);
        throw explained;
      }
    }
  }

  #connectionClass() {
    const hosts = this.#hosts;
    return class extends Connection {
      constructor(config: pg.ClientConfig = {}) {
        super(config, hosts);
      }
    };
  }
}

/** A connection that breaks also rejects its statement. Without a listener, its `error` event would stop Node. */
function ignore(): void {}
