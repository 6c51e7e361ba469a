/** The runbooks of `docs/guides/run/citus.md` on a cluster of an installed Citus, while two nodes record and count. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrateStore, openStore } from '../../src/storage/open.js';
import type { Store } from '../../src/storage/ports/store.js';
import { eventually } from '../support/postgres/nodes.js';
import type { PostgresServer } from '../support/postgres/postgres-server.js';
import { by, projectOf } from '../support/storage/entities.js';
import { onDatabase } from '../support/storage/store.js';
import { CITUS, CitusCluster, EARLIER_CITUS, findCitus } from './cluster.js';
import { Load } from './load.js';

const schema = 'runbooks';
const ids = Array.from({ length: 8 }, (_, at) => `p${at}`);
const acknowledged = new Map(ids.map((id) => [id, 0]));
/** Then what follows the upgrade runs on upgraded servers. */
const isUpgraded = process.env[EARLIER_CITUS] !== undefined;
let cluster: CitusCluster;
let stores: readonly Store[] = [];

beforeAll(async () => {
  if (!isUpgraded)
    process.stdout.write(`not run: the upgrade of Citus, because ${EARLIER_CITUS} is not set\n`);
  cluster = await CitusCluster.start(isUpgraded ? EARLIER_CITUS : CITUS);
  const url = `${cluster.coordinator.url()}?schema=${schema}`;
  await migrateStore(url, { distribute: true });
  stores = [await openStore(url), await openStore(url)];
  for (const id of ids) await stores[0]?.directory.createProject(projectOf(id), by);
});

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await cluster?.stop();
});

/** Does `work` while two nodes record. Afterwards every acknowledged query must be counted once. */
async function underLoad(work: (load: Load) => Promise<void>): Promise<void> {
  const load = new Load(stores, acknowledged);
  try {
    await load.progress();
    await work(load);
    await load.progress();
  } finally {
    await load.stop();
  }
  await load.requireExact();
}

const place = (id: string) => cluster.place(schema, id);

function otherWorker(port: number): PostgresServer {
  const found = cluster.workers.find((worker) => worker.port !== port);
  if (found === undefined) throw new Error('there is no other worker');
  return found;
}

async function projectsOn(port: number): Promise<string[]> {
  const places = await Promise.all(ids.map(place));
  return ids.filter((_, at) => places[at]?.port === port);
}

test.runIf(isUpgraded)('each server gets a later release of Citus, the coordinator first', () =>
  underLoad(async (load) => {
    const { bin } = await findCitus(CITUS);
    for (const server of cluster.servers) {
      const own = await projectsOn(server.port);
      await server.kill('SIGINT');
      await server.start(bin);
      // Until then, what is recorded there is refused.
      await load.refusal(own);
      await load.progress(ids.filter((id) => !own.includes(id)));
      await onDatabase(server.url(), (client) => client.query('ALTER EXTENSION citus UPDATE'));
      await load.progress();
    }
    for (const server of cluster.servers) {
      const versions = await onDatabase(server.url(), (client) =>
        client.query(
          "SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'citus'",
        ),
      );
      expect(versions.rows[0].installed_version).toBe(versions.rows[0].default_version);
    }
  }),
);

test.each(['force_logical', 'block_writes'])('a shard is moved with %s', (mode) =>
  underLoad(async () => {
    const { shard, port } = await place('p0');
    const to = otherWorker(port).port;
    await cluster.ask(
      "SELECT citus_move_shard_placement($1, '127.0.0.1', $2, '127.0.0.1', $3, $4::citus.shard_transfer_mode)",
      [shard, port, to, mode],
    );
    expect((await place('p0')).port).toBe(to);
  }),
);

test.each([
  ['onto the other worker', 'auto'],
  ['onto its own worker', 'block_writes'],
])('a shard is split %s with %s', (where, mode) =>
  underLoad(async () => {
    const { shard, node, port, middle } = await place('p1');
    const [other] = await cluster.ask<{ nodeid: number }>(
      'SELECT nodeid FROM pg_dist_node WHERE nodeport = $1',
      [otherWorker(port).port],
    );
    const to = where === 'onto its own worker' ? node : other?.nodeid;
    await cluster.ask(
      'SELECT citus_split_shard_by_split_points($1, ARRAY[$2], ARRAY[$3, $3]::integer[], $4::citus.shard_transfer_mode)',
      [shard, middle, to, mode],
    );
    expect(await place('p1')).toMatchObject({ node: to });
    expect((await place('p1')).shard).not.toBe(shard);
  }),
);

test('a worker is added, gets its share, is drained and removed', () =>
  underLoad(async (load) => {
    const { port } = cluster.spare;
    await cluster.ask("SELECT citus_add_node('127.0.0.1', $1)", [port]);
    await cluster.ask('SELECT citus_rebalance_start()');
    await eventually(async () => {
      const [found] = await cluster.ask<{ state: string }>(
        'SELECT state FROM citus_rebalance_status() ORDER BY job_id DESC LIMIT 1',
      );
      expect(found?.state).not.toBe('failed');
      return found?.state === 'finished' ? true : undefined;
    });
    const [{ shards } = { shards: 0 }] = await cluster.ask<{ shards: number }>(
      'SELECT count(*)::integer AS shards FROM pg_dist_placement JOIN pg_dist_node USING (groupid) WHERE nodeport = $1',
      [port],
    );
    expect(shards).toBeGreaterThan(0);
    await load.progress();
    await cluster.ask("SELECT citus_drain_node('127.0.0.1', $1)", [port]);
    await cluster.ask("SELECT citus_remove_node('127.0.0.1', $1)", [port]);
  }));

test('a worker that is down stops its own projects only', () =>
  underLoad(async (load) => {
    const [worker] = cluster.workers;
    if (worker === undefined) throw new Error('there is no worker');
    const own = await projectsOn(worker.port);
    const others = ids.filter((id) => !own.includes(id));
    expect(own).not.toEqual([]);
    const before = others.map((id) => load.refused(id));
    await worker.kill();
    await load.refusal(own);
    await load.progress(others);
    expect(others.map((id) => load.refused(id))).toEqual(before);
    expect(await stores[1]?.directory.listProjects('default')).toHaveLength(ids.length);
    await worker.start();
  }));

test('while the coordinator is down, projects cannot be listed, and what is recorded counts', () =>
  underLoad(async () => {
    await cluster.coordinator.kill();
    await expect(stores[0]?.directory.listProjects('default')).rejects.toMatchObject({ code: 'unavailable' });
    await cluster.coordinator.start();
  }));
