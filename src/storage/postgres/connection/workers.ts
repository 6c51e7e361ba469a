/**
 * Reads and records queries of a Citus cluster on the workers of their projects, each of which has connections of its own. There, a
 * statement names the shards, which are usual tables of the worker. So it costs what it costs on PostgreSQL alone: Citus would plan it
 * again each time, on two servers.
 */
import { scheduler } from 'node:timers/promises';
import type { ConnectionPool } from '../../ports/store-stats.js';
import type { Statements } from '../statements/statements.js';
import { HAS_CITUS } from './cluster.js';
import { type Connection, Connections } from './connections.js';
import {
  ask,
  type Database,
  type DatabaseOptions,
  type Statement,
  withDatabaseDeadline,
} from './database.js';
import { isDivisionByZero, rowsFromOf, UnsuitableServer } from './errors.js';
import { Hosts } from './hosts.js';
import type { PostgresLocation } from './location.js';

interface Worker {
  /** As Citus knows it. Other machines than its servers may not reach it there. */
  readonly host: string;
  readonly port: number;
}

/** Where the rows of a project are. */
interface Place extends Worker {
  /** The number of the worker in the cluster. */
  readonly group: number;
  /** The number of the shard of each table, which ends the shard's name. */
  readonly shards: Readonly<Record<string, number>> & { readonly project: number };
}

/** After an error, a worker is asked only by way of the coordinator for this long. */
const avoidedMs = 30_000;

/** So that a cluster whose workers are replaced again and again does not fill the metrics. */
const poolsShownMax = 200;

/** Long enough within a data centre. Until then, requests wait for the first connection to a worker. */
const connectTimeoutMs = 1000;

/** The mode SHARE of PostgreSQL's locks, as Citus numbers them. */
const shareLock = 5;

/** So that a connection can change shards, and make functions that concern no other server. */
const RECORDING_SETTINGS =
  'SET citus.enable_manual_changes_to_shards = on; SET citus.enable_ddl_propagation = off';

/** The statements that record, and the functions that they call. */
const RECORDING_FUNCTIONS = { record: 'record', recordOne: 'record_one' } as const;

export type RecordingName = keyof typeof RECORDING_FUNCTIONS;

/** With more, all are forgotten. */
const placesMax = 10_000;

/**
 * Divides by zero unless the worker has the shard, and no transaction is moving it that has not been undone. A worker keeps shards for
 * some time that have moved, and may learn it after other servers: but before any of them does, its row has the transaction's number.
 */
const requireShard = ({ shards, group }: Place) => `1 = 1 / (
    SELECT count(*) FROM pg_dist_placement AS placement WHERE shardid = ${shards.project} AND groupid = ${group}
      AND (placement.xmax = 0 OR pg_xact_status(placement.xmax::text::xid8) = 'aborted'))`;

/** The number that PostgreSQL gave to a server and its standbys. */
const SERVER_NUMBER = 'SELECT system_identifier::text AS number FROM pg_control_system()';

/** Asks a worker by way of the coordinator. */
const ASK_WORKER = `SELECT result FROM master_run_on_worker(ARRAY[$1::text], ARRAY[$2::integer], ARRAY['${SERVER_NUMBER}'], false)
  WHERE success`;

/**
 * Whether no move or split of a project's shard is being committed. Citus commits one on the coordinator, then on the workers, and
 * only then do other connections to the coordinator hear of it. As long as its transaction holds a lock, they may read the old shard,
 * without what workers have recorded since.
 */
const isSettled = (schema: string) => `SELECT EXISTS (
    SELECT FROM pg_dist_placement AS placement
    WHERE shardid = (SELECT get_shard_id_for_distribution_column('${schema}.project'::regclass, $1::text)) AND NOT EXISTS (
      SELECT FROM pg_locks WHERE locktype = 'transactionid' AND transactionid = placement.xmin AND granted)
  ) AS "isSettled"`;

const settlingMs = 5;

/** A text that names tables of the schema, with the names of shards instead. */
function onShards(text: string, schema: string, { shards }: Place): string {
  return text.replace(
    new RegExp(`\\b${schema}\\.(\\w+)\\b(?=( AS )?)`, 'g'),
    (name, table: string, alias?: string) => {
      const number = shards[table];
      if (number === undefined) return name;
      return alias === undefined ? `${name}_${number} AS ${table}` : `${name}_${number}`;
    },
  );
}

/** A statement that reads tables of the schema, for its shards. */
function readingOnShards(text: string, schema: string, place: Place): string {
  return `SELECT answer.* FROM (${onShards(text, schema, place)}) AS answer WHERE ${requireShard(place)}`;
}

/**
 * A function that records, for shards, which a connection makes for itself. As Citus does, it keeps others from moving them until the
 * transaction ends.
 */
function recordingOnShards(definition: string, name: string, schema: string, place: Place): string {
  const { project } = place.shards;
  const begin = `BEGIN
    PERFORM lock_shard_metadata(${shareLock}, ARRAY[${project}]::bigint[]);
    PERFORM ${requireShard(place)};`;
  return onShards(definition, schema, place)
    .replace(/FUNCTION [^(]+\(/, `FUNCTION pg_temp.${name}(`)
    .replace('BEGIN', begin);
}

export class Workers {
  readonly #location: PostgresLocation;
  readonly #options: DatabaseOptions;
  readonly #coordinator: Database;
  readonly #statements: Statements;
  /** By purpose and worker, as `#avoided`. */
  readonly #connections = new Map<string, Connections>();
  readonly #avoided = new Set<string>();
  readonly #places = new Map<string, Place>();
  /** By the name of the statement and the place. */
  readonly #texts = new Map<string, string>();
  /** The names of those that each connection has made. */
  readonly #functions = new WeakMap<Connection, Set<string>>();
  #isCluster: boolean | undefined;

  constructor(
    coordinator: Database,
    statements: Statements,
    location: PostgresLocation,
    options: DatabaseOptions,
  ) {
    this.#coordinator = coordinator;
    this.#statements = statements;
    this.#location = location;
    this.#options = options;
  }

  /**
   * Reads one project. Undefined if the coordinator is to be asked instead, because there is no cluster, or the worker cannot be
   * used from here.
   */
  read<R>(
    projectId: string,
    { name, text }: Required<Statement>,
    values: readonly unknown[],
  ): Promise<R[] | undefined> {
    return this.#use('read', projectId, async (connection, place) => {
      const ownName = `${name} ${place.shards.project} ${place.group}`;
      const ownText = this.#texts.get(ownName) ?? readingOnShards(text, this.#location.schema, place);
      this.#texts.set(ownName, ownText);
      return (await ask<R>(connection, { name: ownName, text: ownText }, values)).rows;
    });
  }

  /** Calls a function that records, with the project as its first value. Returns undefined in the same cases as `read`. */
  record<R>(statement: RecordingName, values: readonly unknown[]): Promise<R[] | undefined> {
    return this.#use('write', String(values[0]), async (connection, place) => {
      const original = RECORDING_FUNCTIONS[statement];
      const name = `${original}_${place.shards.project}_${place.group}`;
      const functions = this.#functions.get(connection) ?? new Set();
      this.#functions.set(connection, functions);
      if (!functions.has(name)) await this.#makeRecording(connection, original, name, place);
      functions.add(name);
      const text = this.#statements[statement].replace(
        `${this.#location.schema}.${original}`,
        `pg_temp.${name}`,
      );
      return (await ask<R>(connection, { name, text }, values)).rows;
    });
  }

  /** From the function that the schema has, whatever its version. */
  async #makeRecording(connection: Connection, original: string, name: string, place: Place): Promise<void> {
    const { schema } = this.#location;
    type Row = { readonly text: string };
    const { rows } = await connection.query<Row>(
      `SELECT pg_get_functiondef('${schema}.${original}'::regproc) AS text`,
    );
    await connection.query(recordingOnShards(rows[0]?.text ?? '', name, schema, place));
  }

  /** Waits until the coordinator knows where the project is. Call it before a read by way of the coordinator. */
  async settle(projectId: string): Promise<void> {
    if (!(await this.isCluster())) return;
    const statement = { name: 'isSettled', text: isSettled(this.#location.schema) };
    await withDatabaseDeadline(this.#options.timeoutMs, async (signal) => {
      while (!signal.aborted) {
        const [row] = await this.#coordinator.read<{ readonly isSettled: boolean }>(statement, [projectId]);
        if (row?.isSettled === true) return;
        await scheduler.wait(settlingMs);
      }
    });
  }

  /** Those of the first workers that were used. */
  get pools(): ConnectionPool[] {
    return [...this.#connections.entries()]
      .slice(0, poolsShownMax)
      .map(([pool, { stats }]) => ({ ...stats, server: pool.slice(pool.indexOf(' ') + 1) }));
  }

  /** Whether there are workers. A database that becomes a cluster is noticed after some time: until then, the coordinator is right as well. */
  async isCluster(): Promise<boolean> {
    if (this.#isCluster !== undefined) return this.#isCluster;
    // A dump of a cluster brings its copies to PostgreSQL alone.
    const text = `${this.#statements.findCopy} AND EXISTS (${HAS_CITUS})`;
    const isCluster = (await this.#coordinator.read({ text })).length > 0;
    this.#isCluster = isCluster;
    if (!isCluster) setTimeout(() => (this.#isCluster = undefined), avoidedMs).unref();
    return isCluster;
  }

  async end(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connections) => connections.end()));
  }

  async #use<T>(
    purpose: ConnectionPool['purpose'],
    projectId: string,
    work: (connection: Connection, place: Place) => Promise<T>,
  ): Promise<T | undefined> {
    if (!(await this.isCluster())) return undefined;
    return withDatabaseDeadline(this.#options.timeoutMs, async (signal) => {
      const place = this.#places.get(projectId) ?? (await this.#find(projectId));
      if (place === undefined) return undefined;
      const pool = `${purpose} ${place.host}:${place.port}`;
      if (this.#avoided.has(pool)) return undefined;
      try {
        return await this.#connectionsOf(pool, purpose, place).use(true, (connection) =>
          work(connection, place),
        );
      } catch (error) {
        if (rowsFromOf(error) !== undefined) throw error;
        // Whatever it was: if it is not the worker's, the coordinator has it, too.
        const isGone = !(await this.#hasMoved(projectId, place, error)) && !signal.aborted;
        if (isGone) this.#avoid(pool);
        return undefined;
      }
    });
  }

  #avoid(pool: string): void {
    this.#avoided.add(pool);
    setTimeout(() => this.#avoided.delete(pool), avoidedMs).unref();
  }

  /** Finds the place again. The same one may still be about to move. */
  async #hasMoved(projectId: string, place: Place, error: unknown): Promise<boolean> {
    const found = await this.#find(projectId);
    return isDivisionByZero(error) || JSON.stringify(found) !== JSON.stringify(place);
  }

  async #find(projectId: string): Promise<Place | undefined> {
    const statement = { name: 'findPlace', text: this.#statements.findPlace };
    const [place] = await this.#coordinator.read<Place>(statement, [projectId]);
    if (this.#places.size >= placesMax) this.#places.clear();
    if (place !== undefined) this.#places.set(projectId, place);
    return place;
  }

  #connectionsOf(pool: string, purpose: ConnectionPool['purpose'], { host, port }: Worker): Connections {
    const known = this.#connections.get(pool);
    if (known !== undefined) return known;
    const { connectionsMax, timeoutMs } = this.#options;
    const own: PostgresLocation = {
      ...this.#location,
      hosts: [{ host, port }],
      target: 'any',
      connectTimeoutMs,
    };
    const connections = new Connections(own.config, new Hosts(own, timeoutMs), {
      purpose,
      max: purpose === 'read' ? Math.ceil(connectionsMax / 2) : Math.floor(connectionsMax / 2),
      timeoutMs,
      requireServer: async (connection) => {
        await this.#requireWorker({ host, port }, connection);
        if (purpose === 'write') await connection.query(RECORDING_SETTINGS);
      },
    });
    this.#connections.set(pool, connections);
    return connections;
  }

  /** The name that a worker has in the cluster may be that of another server here. */
  async #requireWorker({ host, port }: Worker, connection: Connection): Promise<void> {
    const [asked] = await this.#coordinator.read<{ readonly result: string }>({ text: ASK_WORKER }, [
      host,
      port,
    ]);
    const { rows } = await connection.query<{ readonly number: string }>(SERVER_NUMBER);
    if (connection.isShared || asked === undefined || asked.result !== rows[0]?.number)
      throw new UnsuitableServer('it is not the server of the cluster that has this name');
  }
}
