/**
 * On a cluster, a project is read and recorded into on its worker. An extension stands in for Citus: shards are views, and the worker is
 * the coordinator itself, or another server with other queries.
 */
import { Registry } from 'prom-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { addStoreStats } from '../../../src/observability/metrics/store-stats.js';
import { migrateStore } from '../../../src/storage/open.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { SHARDED_TABLES } from '../../../src/storage/postgres/migrations/distribute.js';
import { freePort } from '../../support/free-port.js';
import { addCoordinator, placeOn, standIn } from '../../support/postgres/citus-stand-in.js';
import {
  newestPostgres,
  olderPostgres,
  type PostgresServer,
  startPostgres,
} from '../../support/postgres/postgres-server.js';
import {
  by,
  newSchemaIn,
  onDatabase,
  openForTest,
  projectOf,
  schemaOf,
} from '../../support/storage/store.js';

const host = '127.0.0.1';

let server: PostgresServer;
/** Passes for a server of the cluster, because servers of tests with the same version are copies of one. */
let worker: PostgresServer;
/** Does not pass for one. */
let stranger: PostgresServer;

/** The numbers that the cluster gives them. */
const [home, other] = [1, 2];

beforeAll(async () => {
  [server, worker, stranger] = await Promise.all([
    startPostgres(newestPostgres(), { extensions: standIn }),
    startPostgres(newestPostgres(), { extensions: standIn }),
    startPostgres(olderPostgres()),
  ]);
  await onDatabase(server.url(), (client) => client.query('CREATE EXTENSION citus'));
  await addCoordinator(server.url());
  await onDatabase(worker.url(), (client) => client.query('CREATE EXTENSION citus'));
  // So that it refuses nobody.
  await onDatabase(stranger.url(), (client) =>
    client.query(`CREATE TABLE pg_dist_placement AS SELECT 1 AS shardid, ${other} AS groupid;
      ALTER ROLE tester PASSWORD '${server.password}'`),
  );
});
afterAll(() => Promise.all([server, worker, stranger].map((one) => one.stop())));
beforeEach(async () => {
  await placeOn(server.url(), { group: home, host, port: server.port });
  await onDatabase(worker.url(), (client) => client.query(`UPDATE pg_dist_placement SET groupid = ${other}`));
});

const queriesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: `q${at}`, caller: 'web', occurredAt: at }));

async function fill(url: string, count: number): Promise<Store> {
  const store = await openForTest(url);
  await store.directory.createProject(projectOf('a'), by);
  await store.counts.record('a', queriesOf(count));
  return store;
}

/** A store of a cluster with the project `a`, which has one query. */
async function newStore(): Promise<{ store: Store; schema: string }> {
  const url = newSchemaIn(server.url());
  await migrateStore(url, { distribute: true });
  return { store: await fill(url, 1), schema: schemaOf(url) };
}

const totalOf = async (store: Store) => (await store.counts.count('a', ALL_TIME)).total;

/** Gives a server shards of the same names, in which the project has 100 queries. Returns the store that they are views of. */
async function makeShards({ port }: PostgresServer, schema: string): Promise<Store> {
  const database = server.url().replace(String(server.port), String(port));
  const store = await fill(`${database}?schema=${schema}`, 100);
  const views = Object.keys(SHARDED_TABLES).map(
    (table) => `CREATE VIEW ${schema}.${table}_1 AS SELECT * FROM ${schema}.${table}`,
  );
  await onDatabase(database, (client) => client.query(views.join(';')));
  return store;
}

/** Moves the shards, and lets the store learn it. */
async function move(store: Store, to: { readonly host: string; readonly port: number }): Promise<void> {
  await placeOn(server.url(), { group: other, ...to });
  await totalOf(store);
}

describe('a worker is not asked', () => {
  test.each([
    ['if nothing answers there', async () => ({ host, port: await freePort() })],
    ['if its name is not known', async () => ({ host: 'nowhere.invalid', port: worker.port })],
    ['if another server has its name', async () => ({ host, port: stranger.port })],
  ])('%s', async (_, place) => {
    const { store, schema } = await newStore();
    for (const one of [worker, stranger]) await makeShards(one, schema);
    await move(store, await place());
    expect(await totalOf(store)).toBe(1);
    expect(await store.counts.record('a', queriesOf(3))).toEqual({ recorded: 2, duplicates: 1 });
    expect(await totalOf(store)).toBe(3);
  });

  test('while its shards are being moved, and is asked again if that is undone', async () => {
    const { store, schema } = await newStore();
    await makeShards(worker, schema);
    await move(store, { host, port: worker.port });
    await onDatabase(worker.url(), async (client) => {
      await client.query('BEGIN; UPDATE pg_dist_placement SET groupid = 3');
      expect(await totalOf(store)).toBe(1);
      expect(await store.counts.record('a', queriesOf(3))).toEqual({ recorded: 2, duplicates: 1 });
      await client.query('ROLLBACK');
    });
    expect(await totalOf(store)).toBe(100);
  });

  test('once its shards have moved', async () => {
    const { store, schema } = await newStore();
    await makeShards(worker, schema);
    await move(store, { host, port: worker.port });
    await onDatabase(worker.url(), (client) => client.query('UPDATE pg_dist_placement SET groupid = 3'));
    expect(await totalOf(store)).toBe(1);
    expect(await store.counts.record('a', queriesOf(3))).toEqual({ recorded: 2, duplicates: 1 });
  });

  test('once it has stopped', async () => {
    const { store, schema } = await newStore();
    const kept = await makeShards(worker, schema);
    await move(store, { host, port: worker.port });
    expect(await totalOf(store)).toBe(100);
    await kept.close();
    await worker.kill();
    expect(await totalOf(store)).toBe(1);
    await worker.start();
  });
});

test('a worker is asked for the counts of its projects, and records their queries', async () => {
  const { store, schema } = await newStore();
  const kept = await makeShards(worker, schema);
  await move(store, { host, port: worker.port });
  expect(await totalOf(store)).toBe(100);
  expect(await store.counts.record('a', queriesOf(103))).toEqual({ recorded: 3, duplicates: 100 });
  expect(await store.counts.record('a', queriesOf(104).slice(-1))).toEqual({ recorded: 1, duplicates: 0 });
  expect(await store.counts.record('missing', queriesOf(1)).catch(({ code }) => code)).toBe('not_found');
  expect(await kept.maintenance.verify()).toMatchObject({ queries: 104, differencesTotal: 0 });
  const { pools } = await store.maintenance.stats();
  expect(pools.map((pool) => [pool.purpose, pool.server])).toEqual([
    ['read', undefined],
    ['write', undefined],
    ['write', `${host}:${server.port}`],
    ['read', `${host}:${server.port}`],
    ['read', `${host}:${worker.port}`],
    ['write', `${host}:${worker.port}`],
  ]);
  const registry = new Registry();
  await addStoreStats(registry, store, { now: () => 0 })();
  const metrics = await registry.metrics();
  expect(metrics).toMatch(/^caller_stats_database_connections_limit\{pool="write"\} 5$/m);
  expect(metrics).toContain(
    `caller_stats_database_connections_limit{pool="write",server="${host}:${worker.port}"} 5`,
  );
});
