/** A PostgreSQL server that has data becomes the coordinator of an installed Citus, while nodes record. */
import { expect, onTestFinished, test } from 'vitest';
import { spawnCli } from '../support/cli/cli.js';
import { succeed } from '../support/cli/cli-place.js';
import { by, onDatabase, openForTest, projectOf } from '../support/storage/store.js';
import { CitusCluster } from './cluster.js';
import { Load } from './load.js';

test('a PostgreSQL server that has data gets workers, and its tables are distributed', async () => {
  const cluster = await CitusCluster.start();
  onTestFinished(() => cluster.stop());
  for (const server of cluster.servers)
    await onDatabase(server.url(), (client) => client.query('CREATE DATABASE grown'));
  const url = cluster.coordinator.url('grown');
  const stores = [await openForTest(url), await openForTest(url)];
  const acknowledged = new Map(Array.from({ length: 4 }, (_, at) => [`p${at}`, 0]));
  for (const id of acknowledged.keys()) await stores[0]?.directory.createProject(projectOf(id), by);
  await Load.during(stores, acknowledged, async (load) => {
    await cluster.join('grown');
    await load.progress();
    await succeed(spawnCli(['migrate', '--distribute'], { env: { DATABASE_URL: url } }));
  });
  // Nodes that are started now use the workers.
  const store = await openForTest(url);
  await Load.during([store], acknowledged, () => Promise.resolve());
  const { pools } = await store.maintenance.stats();
  expect(pools.some(({ server }) => server !== undefined)).toBe(true);
});
