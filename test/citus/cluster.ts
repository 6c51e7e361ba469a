/** A cluster of an installed Citus: a coordinator and workers, on free ports with their own folders. */
import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from 'pg';
import { eventually } from '../support/postgres/nodes.js';
import type { Installation } from '../support/postgres/postgres-installation.js';
import { type PostgresServer, startPostgres } from '../support/postgres/postgres-server.js';
import { onDatabase } from '../support/storage/store.js';

/** Name the folder `bin` of a PostgreSQL that has Citus, and of one that has an earlier release of it. */
export const CITUS = 'CALLER_STATS_TEST_CITUS';
export const EARLIER_CITUS = 'CALLER_STATS_TEST_EARLIER_CITUS';

const settings = {
  shared_preload_libraries: 'citus',
  'citus.shard_count': '8',
  'citus.node_conninfo': 'sslmode=disable',
  wal_level: 'logical',
  max_prepared_transactions: '200',
  max_replication_slots: '40',
  max_wal_senders: '40',
  max_logical_replication_workers: '40',
  max_worker_processes: '60',
};

/** Fails with what is missing. `name` is that of the variable. */
export async function findCitus(name: typeof CITUS | typeof EARLIER_CITUS): Promise<Installation> {
  const bin = process.env[name];
  if (bin === undefined) throw new Error(`${name} must name the folder bin of a PostgreSQL that has Citus`);
  const run = async (program: string, argument: string) =>
    (await promisify(execFile)(join(bin, program), [argument])).stdout.trim();
  const control = join(await run('pg_config', '--sharedir'), 'extension', 'citus.control');
  await access(control).catch(() => {
    throw new Error(`${name}: the PostgreSQL of ${bin} does not have Citus: ${control} is missing`);
  });
  return { version: `${await run('postgres', '--version')} of ${name}`, bin };
}

/** Newer releases of PostgreSQL, minor ones too, have a list of what may read the log, and splits read it with Citus. */
export async function allowPlugIn(client: Client): Promise<void> {
  const { rowCount } = await client.query("SELECT FROM pg_settings WHERE name = 'output_plugin_libraries'");
  if (rowCount === 0) return;
  await client.query('ALTER SYSTEM SET output_plugin_libraries = citus, pgoutput');
  await client.query('SELECT pg_reload_conf()');
}

/** Who may connect without a password. */
const trusted = ['host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust'];

export class CitusCluster {
  #coordinator: PostgresServer;
  #workers: readonly PostgresServer[];
  /** Is not part of the cluster until a test adds it. */
  readonly spare: PostgresServer;

  private constructor([coordinator, spare, ...workers]: readonly PostgresServer[]) {
    if (coordinator === undefined || spare === undefined) throw new Error('a cluster has several servers');
    this.#coordinator = coordinator;
    this.spare = spare;
    this.#workers = workers;
  }

  get coordinator(): PostgresServer {
    return this.#coordinator;
  }

  get workers(): readonly PostgresServer[] {
    return this.#workers;
  }

  static async start(name: typeof CITUS | typeof EARLIER_CITUS = CITUS): Promise<CitusCluster> {
    const installation = await findCitus(name);
    const starts = Array.from({ length: 4 }, () =>
      startPostgres(installation, { settings, access: trusted }),
    );
    const cluster = new CitusCluster(await Promise.all(starts));
    try {
      await cluster.join('postgres');
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Makes one database of those with this name, as the page says. */
  async join(database: string): Promise<void> {
    for (const server of this.servers) {
      await onDatabase(server.url(database), async (client) => {
        await client.query('CREATE EXTENSION citus');
        await allowPlugIn(client);
      });
    }
    await onDatabase(this.coordinator.url(database), async (client) => {
      await client.query("SELECT citus_set_coordinator_host('127.0.0.1', $1)", [this.coordinator.port]);
      for (const { port } of this.workers)
        await client.query("SELECT citus_add_node('127.0.0.1', $1)", [port]);
    });
  }

  get servers(): readonly PostgresServer[] {
    return [this.coordinator, this.spare, ...this.workers];
  }

  /** A standby that all later commits of a server wait for. Only where no earlier release is used any more. */
  async addStandby(primary: PostgresServer): Promise<PostgresServer> {
    const standby = await startPostgres(await findCitus(CITUS), { settings, standbyOf: primary });
    await onDatabase(primary.url(), async (client) => {
      await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await client.query('SELECT pg_reload_conf()');
      await eventually(async () => {
        const { rowCount } = await client.query(
          "SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'",
        );
        return rowCount === 1 ? true : undefined;
      });
    });
    return standby;
  }

  /** A promoted standby takes the place of a server that has been killed. What Citus must be told is for the test to do. */
  async replace(gone: PostgresServer, standby: PostgresServer): Promise<void> {
    if (gone === this.#coordinator) this.#coordinator = standby;
    this.#workers = this.#workers.map((worker) => (worker === gone ? standby : worker));
    await gone.stop();
  }

  async ask<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return onDatabase(
      this.coordinator.url(),
      async (client) => (await client.query<Row>(sql, [...values])).rows,
    );
  }

  /** Where the rows of a project are. */
  async place(schema: string, projectId: string): Promise<Placement> {
    const [found] = await this.ask<Placement>(
      `SELECT shardid AS shard, nodeid AS node, nodeport AS port,
         ((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::text AS middle
       FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
       WHERE shardid = get_shard_id_for_distribution_column('${schema}.project'::regclass, $1::text)`,
      [projectId],
    );
    if (found === undefined) throw new Error(`the project ${projectId} is on no worker`);
    return found;
  }

  async stop(): Promise<void> {
    // Asked to stop, a server waits for the others.
    await Promise.all(this.servers.map((server) => server.kill('SIGQUIT')));
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}

export interface Placement {
  readonly shard: string;
  readonly node: number;
  readonly port: number;
  /** Halves the hashes of the shard. */
  readonly middle: string;
}
