/** A PostgreSQL server for a benchmark, and measurements of it. */
import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import pg from 'pg';
import {
  newestPostgres,
  type PostgresServer,
  startPostgres,
} from '../../test/support/postgres/postgres-server.js';

/** Settings for SSDs; all others are PostgreSQL's defaults. */
const SETTINGS = {
  fsync: 'on',
  shared_buffers: '1GB',
  effective_cache_size: '4GB',
  max_wal_size: '8GB',
  random_page_cost: '1.1',
};

/** Starts a server, of the newest version by default, and stops it afterwards, even after an interruption. */
export async function withPostgres<T>(
  work: (server: PostgresServer) => Promise<T>,
  installation = newestPostgres(),
): Promise<T> {
  const server = await startPostgres(installation, { settings: SETTINGS });
  const folder = await using(server.url(), async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return dirname(rows[0]?.data_directory ?? '');
  });
  const abandon = (): void => {
    process.kill(server.pid, 'SIGQUIT');
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  process.once('exit', abandon);
  try {
    return await work(server);
  } finally {
    process.off('exit', abandon);
    await server.stop();
  }
}

/** Runs `work` with one connection to a database. */
export async function using<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Creates an empty database and returns its URL. */
export async function createDatabase(server: PostgresServer, name: string): Promise<string> {
  await using(server.url(), (client) => client.query(`CREATE DATABASE ${name}`));
  return server.url(name);
}

/** Removes dead rows, enables index-only scans, and updates the planner's statistics. */
export async function vacuum(url: string): Promise<void> {
  await using(url, (client) => client.query('VACUUM (ANALYZE)'));
}

/** Writes dirty pages to disk, so that no contestant has to do it for another. */
export async function checkpoint(server: PostgresServer): Promise<void> {
  await using(server.url(), (client) => client.query('CHECKPOINT'));
}

/** The rows of the first table, and the bytes of all tables with their indexes. */
export async function readSize(url: string, tables: readonly [string, ...string[]]) {
  return using(url, async (client) => {
    const { rows } = await client.query<{ rows: string; bytes: string }>(
      `SELECT (SELECT count(*) FROM ${tables[0]}) AS rows, sum(pg_total_relation_size(name::regclass)) AS bytes
       FROM unnest($1::text[]) AS name`,
      [tables],
    );
    return { rows: Number(rows[0]?.rows), bytes: Number(rows[0]?.bytes) };
  });
}

/** Bytes of write-ahead log that the server wrote during `work`. */
export function measureWal(server: PostgresServer, work: () => Promise<unknown>): Promise<number> {
  return using(server.url(), async (client) => {
    const position = async (): Promise<number> => {
      const { rows } = await client.query<{ bytes: string }>(
        "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS bytes",
      );
      return Number(rows[0]?.bytes);
    };
    const before = await position();
    await work();
    return (await position()) - before;
  });
}

export function readVersion(server: PostgresServer): Promise<string> {
  return using(server.url(), async (client) => {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return rows[0]?.server_version ?? '';
  });
}
