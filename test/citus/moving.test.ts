/** Setting up, moving, backing up and upgrading a cluster of an installed Citus, as `docs/guides/run` says, while nodes record. */
import { join } from 'node:path';
import { scheduler } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { migrateStore } from '../../src/storage/open.js';
import { runCli, runCommand, spawnCli, startCommand } from '../support/cli/cli.js';
import { batchOf, clientOf } from '../support/cli/cli-client.js';
import { succeed } from '../support/cli/cli-place.js';
import { programOn, ready } from '../support/postgres/schema-nodes.js';
import { by, newSchemaIn, onDatabase, openForTest, projectOf } from '../support/storage/store.js';
import { temporaryFolder } from '../support/temporary.js';
import { CITUS, CitusCluster, findCitus } from './cluster.js';
import { Load } from './load.js';

/** Name the file `main.js` of an earlier build, which an upgrade of the service begins with. */
const EARLIER_BUILD = 'CALLER_STATS_TEST_EARLIER_BUILD';
const earlierBuild = process.env[EARLIER_BUILD];
const ids = ['docs', 'shop', 'help'];
let cluster: CitusCluster;

beforeAll(async () => {
  if (earlierBuild === undefined)
    process.stdout.write(`not run: the upgrade of the service, because ${EARLIER_BUILD} is not set\n`);
  cluster = await CitusCluster.start();
});

afterAll(() => cluster?.stop());

async function createDatabases(name: string): Promise<void> {
  for (const server of cluster.servers)
    await onDatabase(server.url(), (client) => client.query(`CREATE DATABASE ${name}`));
  await cluster.join(name);
}

/** Two nodes and their projects in a new schema that is distributed. */
async function openNodes(schema: string) {
  const url = `${cluster.coordinator.url()}?schema=${schema}`;
  await migrateStore(url, { distribute: true });
  const stores = [await openForTest(url), await openForTest(url)];
  for (const id of ids) await stores[0]?.directory.createProject(projectOf(id), by);
  return { url, stores, acknowledged: new Map(ids.map((id) => [id, 0])) };
}

test('empty servers are set up for a user without other rights, and nodes record on the workers', async () => {
  await createDatabases('stats');
  await onDatabase(cluster.coordinator.url('stats'), async (client) => {
    await client.query("CREATE ROLE stats LOGIN PASSWORD 'choose one'");
    await client.query('GRANT CREATE ON DATABASE stats TO stats');
  });
  const url = `postgres://stats@127.0.0.1:${cluster.coordinator.port}/stats`;
  const env = { DATABASE_URL: url, PGOPTIONS: '-c citus.shard_count=4' };
  await succeed(spawnCli(['migrate', '--distribute'], { env }));
  const [shards] = await onDatabase(cluster.coordinator.url('stats'), async (client) => {
    const sql =
      "SELECT count(*)::integer FROM pg_dist_shard WHERE logicalrelid = 'caller_stats.project'::regclass";
    return (await client.query(sql)).rows;
  });
  expect(shards).toEqual({ count: 4 });
  const store = await openForTest(url);
  const acknowledged = new Map(['docs', 'shop', 'help', 'blog'].map((id) => [id, 0]));
  for (const id of acknowledged.keys()) await store.directory.createProject(projectOf(id), by);
  await Load.during([store], acknowledged, () => Promise.resolve());
  const { pools } = await store.maintenance.stats();
  const used = new Set(pools.flatMap(({ server }) => server ?? []));
  expect([...used].sort()).toEqual(cluster.workers.map(({ port }) => `127.0.0.1:${port}`).sort());
});

test('copy moves projects to SQLite while nodes record, on to PostgreSQL alone, and back into the cluster', async () => {
  const { url, stores, acknowledged } = await openNodes('source');
  const file = `sqlite:${join(await temporaryFolder(), 'copy.db')}`;
  const copy = (from: string, to: string) => runCli(['copy', '--from', from, '--to', to]);
  await Load.during(stores, acknowledged, async () => {
    const { stdout, stderr } = await copy(url, file);
    expect(stdout, stderr).toMatch(/arrived at the source meanwhile|the same totals on both sides/);
  });
  const alone = newSchemaIn(inject('postgresServers')[0]?.url ?? '');
  const back = `${cluster.coordinator.url()}?schema=back`;
  await migrateStore(back, { distribute: true });
  for (const [from, to] of [
    [url, file],
    [file, alone],
    [alone, back],
    [back, file],
  ] as const) {
    const { stdout } = await succeed(copy(from, to));
    expect(stdout).toContain('every project has the same totals on both sides');
    const store = await openForTest(to);
    for (const [id, queries] of acknowledged)
      expect((await store.counts.count(id, ALL_TIME)).total).toBe(queries);
    expect(await store.maintenance.verify()).toMatchObject({ differencesTotal: 0, damage: [] });
  }
});

test('a dump that was taken while nodes recorded is restored into PostgreSQL alone and into another cluster', async () => {
  const { url, stores, acknowledged } = await openNodes('caller_stats');
  const { bin } = await findCitus(CITUS);
  const run = async (program: string, ...args: string[]) => succeed(runCommand(join(bin, program), args));
  const file = join(await temporaryFolder(), 'stats.dump');
  const least = new Map<string, number>();
  await Load.during(stores, acknowledged, async () => {
    for (const [id, queries] of acknowledged) least.set(id, queries);
    const options = ['--format=custom', '--schema=caller_stats', '--no-owner', '--no-privileges'];
    await run('pg_dump', ...options, `--file=${file}`, cluster.coordinator.url());
  });
  expect(new URL(url).searchParams.get('schema')).toBe('caller_stats');

  await onDatabase(cluster.spare.url(), (client) => client.query('CREATE DATABASE alone'));
  await createDatabases('restored');
  for (const [target, isCluster] of [
    [cluster.spare.url('alone'), false],
    [cluster.coordinator.url('restored'), true],
  ] as const) {
    await run('pg_restore', '--no-owner', `--dbname=${target}`, file);
    const number =
      "SELECT setval(pg_get_serial_sequence('caller_stats.audit', 'number'), max(number)) FROM caller_stats.audit";
    await run('psql', target, '-c', number);
    if (isCluster) await succeed(spawnCli(['migrate', '--distribute'], { env: { DATABASE_URL: target } }));
    await succeed(spawnCli(['verify', '--database', target]));
    const store = await openForTest(target);
    for (const [id, queries] of least)
      expect((await store.counts.count(id, ALL_TIME)).total).toBeGreaterThanOrEqual(queries);
    await store.directory.createProject(projectOf('later'), by);
  }
});

test('doctor names the servers with their projects and sizes, what is missing, and a server that is down', async () => {
  const { url } = await openNodes('examined');
  const doctor = async () => (await runCli(['doctor'], { env: { DATABASE_URL: url } })).stdout;
  const [first] = cluster.workers;
  const named = cluster.workers.map(({ port }) => port).sort((a, b) => a - b);
  const line = named.map((port) => `127\\.0\\.0\\.1:${port} \\d+ \\(\\d+ MB\\)`).join(', ');
  expect(await doctor()).toMatch(new RegExp(`^ok +cluster: projects by server: ${line}$`, 'm'));
  await onDatabase(url, (client) => client.query('DROP TABLE examined.project_copy'));
  expect(await doctor()).toMatch(
    /^warning +cluster: .+ missing.+\n +run: caller-stats migrate --distribute$/m,
  );
  await migrateStore(url, { distribute: true });
  await first?.kill();
  const found = await doctor();
  await first?.start();
  expect(found).toMatch(new RegExp(`127\\.0\\.0\\.1:${first?.port} \\d+ \\(size unknown\\)`));
  expect(found).toMatch(/^problem +recording: /m);
});

test.runIf(earlierBuild !== undefined)(
  'a node of this version starts beside one of an earlier version',
  async () => {
    const url = newSchemaIn(cluster.coordinator.url());
    const env = { DATABASE_URL: url, CALLER_STATS_SECRET: 'a secret of all nodes of a database' };
    const earlier = (...args: string[]) => [earlierBuild ?? '', ...args];
    const runEarlier = (...args: string[]) =>
      succeed(runCommand(process.execPath, earlier(...args), { env }));
    await runEarlier('migrate', '--distribute');
    await runEarlier('project', 'create', 'Docs', '--id', 'docs');
    const key = (await runEarlier('key', 'create', '--name', 'admin')).stdout.trim();
    const old = await ready(
      startCommand(process.execPath, earlier('serve', '--port', '0'), { env, hangMs: 1_000_000 }),
    );
    const nodes = [clientOf(old, 'docs', key)];
    const statuses = new Map<number, number>();
    let sent = 0;
    let isOver = false;
    const send = async () => {
      while (!isOver) {
        const batch = batchOf(sent++, 3);
        for (let tries = 0; ; tries++) {
          const { status } = (await nodes[tries % nodes.length]?.record(batch)) ?? { status: 0 };
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (status === 200) break;
          await scheduler.wait(10);
        }
      }
    };
    const senders = Promise.all(Array.from({ length: 8 }, send));
    senders.catch(() => {});
    const progress = async () => {
      const goal = sent + 100;
      while (sent < goal) await Promise.race([senders, scheduler.wait(10)]);
    };
    await progress();
    const own = await ready(programOn(url).start());
    nodes.push(clientOf(own, 'docs', key));
    await progress();
    await migrateStore(url, { distribute: true });
    await progress();
    isOver = true;
    await senders;
    expect([...statuses.keys()].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(await clientOf(own, 'docs', key).count()).toMatchObject({
      status: 200,
      body: { total: sent * 3 },
    });
    await succeed(spawnCli(['verify', '--database', url]));
  },
);
