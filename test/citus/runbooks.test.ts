/** The runbooks of `docs/guides/run/citus.md` on a cluster of an installed Citus, while two nodes record and count. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CorrectionRequest, parseCorrection } from '../../src/domain/corrections/correction.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { migrateStore, openStore } from '../../src/storage/open.js';
import type { Store } from '../../src/storage/ports/store.js';
import { documentedGrants } from '../support/postgres/grants.js';
import { eventually } from '../support/postgres/nodes.js';
import type { PostgresServer } from '../support/postgres/postgres-server.js';
import { promote, urlOf } from '../support/postgres/replication.js';
import { by, keyOf, projectOf } from '../support/storage/entities.js';
import { onDatabase, openForTest } from '../support/storage/store.js';
import { allowPlugIn, CITUS, CitusCluster, EARLIER_CITUS, findCitus } from './cluster.js';
import { Load } from './load.js';

const schema = 'runbooks';
const ids = Array.from({ length: 8 }, (_, at) => `p${at}`);
/** Of all projects. */
const key = keyOf('k0');
const recording = (projectId: string) => ({ type: 'recording', projectId, scopes: ['write'] }) as const;
const isStopped = { code: 'unavailable' };
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
  for (const id of ids) await node(0).directory.createProject(projectOf(id), by);
  await node(0).directory.createKey(key, by);
});

afterAll(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await cluster?.stop();
});

const underLoad = (work: (load: Load) => Promise<void>, nodes = stores) =>
  Load.during(nodes, acknowledged, work);

const place = (id: string) => cluster.place(schema, id);

function otherWorker(port: number): PostgresServer {
  const found = cluster.workers.find((worker) => worker.port !== port);
  if (found === undefined) throw new Error('there is no other worker');
  return found;
}

function workerAt(port: number): PostgresServer {
  const found = cluster.workers.find((worker) => worker.port === port);
  if (found === undefined) throw new Error(`no worker has the port ${port}`);
  return found;
}

async function projectsOn(port: number): Promise<string[]> {
  const places = await Promise.all(ids.map(place));
  return ids.filter((_, at) => places[at]?.port === port);
}

test.runIf(isUpgraded)('each server gets later releases of PostgreSQL and Citus, the coordinator first', () =>
  underLoad(async (load) => {
    const { bin } = await findCitus(CITUS);
    for (const server of cluster.servers) {
      const own = await projectsOn(server.port);
      await server.kill('SIGINT');
      await server.start(bin);
      // Until then, what is recorded there is refused.
      await load.refusal(own);
      await load.progress(ids.filter((id) => !own.includes(id)));
      await onDatabase(server.url(), async (client) => {
        await client.query('ALTER EXTENSION citus UPDATE');
        await allowPlugIn(client);
      });
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

/** A shard in two at a hash, both on one node. */
const SPLIT =
  'SELECT citus_split_shard_by_split_points($1, ARRAY[$2], ARRAY[$3, $3]::integer[], $4::citus.shard_transfer_mode)';

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
    await cluster.ask(SPLIT, [shard, middle, to, mode]);
    expect(await place('p1')).toMatchObject({ node: to });
    expect((await place('p1')).shard).not.toBe(shard);
  }),
);

/**
 * Splits the shard of a project, and begins `work` when the split has copied the rows: it waits for it then, on one of the servers.
 * `next` begins when the split has ended.
 */
async function whileSplit(
  id: string,
  waitsOn: 'worker' | 'coordinator',
  work: () => Promise<unknown>,
  next?: () => Promise<unknown>,
) {
  const { shard, node: to, port, middle } = await place(id);
  const worker = workerAt(port);
  const waiting = (url: string, type: string) =>
    onDatabase(url, (client) =>
      eventually(async () => {
        const { rowCount } = await client.query('SELECT FROM pg_locks WHERE locktype = $1 AND NOT granted', [
          type,
        ]);
        return rowCount === 1 ? true : undefined;
      }),
    );
  await onDatabase(worker.url(), async (client) => {
    await client.query('BEGIN');
    // A split changes it once it has copied the rows.
    await client.query('LOCK TABLE pg_dist_shard IN SHARE MODE');
    const splitting = cluster.ask(SPLIT, [shard, middle, to, 'block_writes']);
    splitting.catch(() => {});
    await waiting(worker.url(), 'relation');
    const working = work();
    working.catch(() => {});
    await waiting((waitsOn === 'worker' ? worker : cluster.coordinator).url(), 'advisory');
    await client.query('COMMIT');
    await splitting;
    await Promise.all([working, next?.()]);
  });
}

/** As nodes do that cannot reach the workers. Each time, Citus plans it for shards that are gone when it has waited. */
test('what Citus records while a shard is split is counted', async () => {
  await node(0).directory.createProject(projectOf('waiting'), by);
  const record = (number: number) =>
    cluster.ask(`SELECT ${schema}.record($1, $2, $3, $4, $5, $6, $7)`, [
      ...['waiting', [Buffer.alloc(16, number)], [number], ['web'], [], [], [0]],
    ]);
  for (let sent = 1; sent <= 8; sent++) {
    // Nodes repeat what failed.
    await whileSplit('waiting', 'worker', () => record(sent).catch(() => record(sent)));
    expect((await node(0).counts.count('waiting', ALL_TIME)).total).toBe(sent);
  }
  await node(0).directory.deleteProject('default', 'waiting', by);
});

function requestOf(fields: Record<string, unknown>): CorrectionRequest {
  const parsed = parseCorrection({ reason: 'a test', ...fields });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.value;
}

test('a correction that is carried out while a shard is split can be undone', async () => {
  const { corrections, counts, directory } = node(0);
  await directory.createProject(projectOf('mended'), by);
  await counts.record('mended', [{ id: 'a', caller: 'slak', occurredAt: 1 }]);
  const before = await counts.countCallers('mended', ALL_TIME);
  const step = () => corrections.step('mended', 2000, 10);
  const finish = async () => {
    while ((await step()) !== undefined);
  };
  for (let round = 1; round <= 4; round++) {
    const correction = `c${round}`;
    const rename = { id: correction, action: 'rename', caller: 'slak', to: 'slack' };
    await corrections.accept('mended', requestOf(rename), by);
    // The job repeats what failed.
    await whileSplit('mended', 'coordinator', () => step().catch(() => {}));
    await finish();
    await corrections.accept('mended', requestOf({ id: `u${round}`, action: 'undo', correction }), by);
    await finish();
    expect(await counts.countCallers('mended', ALL_TIME)).toEqual(before);
  }
  await directory.deleteProject('default', 'mended', by);
});

test('two nodes carry out a correction once although a shard is split', async () => {
  const { corrections, counts, directory, maintenance } = node(0);
  await directory.createProject(projectOf('once'), by);
  await counts.importCounts('once', [{ source: 'old', caller: 'slack', start: 0, end: 5, count: 7 }]);
  const step = (at: number) => node(at).corrections.step('once', 2000, 10);
  // The job repeats what failed.
  const stepOn = (at: number) => () => step(at).catch(() => {});
  for (let round = 1; round <= 4; round++) {
    const correction = `c${round}`;
    await corrections.accept('once', requestOf({ id: correction, action: 'withdraw', source: 'old' }), by);
    await whileSplit('once', 'coordinator', stepOn(0), stepOn(1));
    while ((await step(0)) !== undefined);
    expect((await counts.count('once', ALL_TIME)).total).toBe(0);
    await corrections.accept('once', requestOf({ id: `u${round}`, action: 'undo', correction }), by);
    while ((await step(0)) !== undefined);
  }
  const verified = await maintenance.verify();
  expect(verified.differencesTotal).toBe(0);
  expect(verified.wrongCopies).toBe(undefined);
  await directory.deleteProject('default', 'once', by);
});

/** A node whose user may not ask the workers who they are, so that it does all by way of the coordinator. */
async function openFar(): Promise<Store> {
  await cluster.ask('CREATE ROLE far LOGIN');
  for (const grant of documentedGrants(schema, 'far')) await cluster.ask(grant);
  for (const worker of cluster.workers)
    await onDatabase(worker.url(), (client) =>
      client.query('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC'),
    );
  const url = new URL(`${cluster.coordinator.url()}?schema=${schema}`);
  url.username = 'far';
  return openForTest(url.href);
}

/** The commits of the coordinator wait for a standby that is not there, until this is undone. */
async function holdCommits(): Promise<() => Promise<unknown>> {
  await cluster.ask("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await cluster.ask('SELECT pg_reload_conf()');
  let probe: Promise<unknown> | undefined;
  await eventually(async () => {
    probe ??= cluster.ask("SELECT pg_logical_emit_message(true, 'test', '')").then(() => {
      probe = undefined;
    });
    const waiting = await cluster.ask("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
    return waiting.length === 1 ? true : undefined;
  });
  return async () => {
    await cluster.ask('ALTER SYSTEM RESET synchronous_standby_names');
    await cluster.ask('SELECT pg_reload_conf()');
    await probe;
  };
}

test('while a split is committed, a count of the coordinator waits for what was recorded since', async () => {
  const { directory } = node(0);
  await directory.createProject(projectOf('settling'), by);
  const { counts } = await openFar();
  const record = (id: string) => counts.record('settling', [{ id, caller: 'web', occurredAt: 1 }]);
  const count = async () => (await counts.count('settling', ALL_TIME)).total;
  const countTogether = async () => {
    const read = await counts.readTogether('settling', (reads) => reads.countCallers('settling', ALL_TIME));
    return read.total;
  };
  await record('before');
  expect([await count(), await countTogether()]).toEqual([1, 1]);
  const { shard, node: to, port, middle } = await place('settling');
  const [worker, other] = [workerAt(port), otherWorker(port)];
  let splitting: Promise<unknown> | undefined;
  const releaseCommits = await onDatabase(worker.url(), async (client) => {
    await client.query('BEGIN');
    await client.query('LOCK TABLE pg_dist_shard IN SHARE MODE');
    splitting = cluster.ask(SPLIT, [shard, middle, to, 'block_writes']);
    splitting.catch(() => {});
    await eventually(async () => {
      const { rowCount } = await client.query(
        "SELECT FROM pg_locks WHERE locktype = 'relation' AND NOT granted",
      );
      return rowCount === 1 ? true : undefined;
    });
    const release = await holdCommits();
    await client.query('COMMIT');
    return release;
  });
  await eventually(async () => {
    const waiting = await cluster.ask(
      "SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%citus_split_shard%'",
    );
    return waiting.length === 1 ? true : undefined;
  });
  // So the coordinator commits the split, then waits for this one.
  await other.signal('SIGSTOP');
  try {
    await releaseCommits();
    await eventually(async () => ((await place('settling')).shard === shard ? undefined : true));
    await record('after');
    const [now] = await cluster.ask<{ readonly at: Date }>('SELECT clock_timestamp() AS at');
    let isRead = false;
    const together = countTogether().finally(() => {
      isRead = true;
    });
    await eventually(async () => {
      const asked = `SELECT FROM pg_stat_activity WHERE query LIKE '%isSettled%' AND usename = 'far' AND query_start > $1`;
      return isRead || (await cluster.ask(asked, [now?.at])).length > 0 ? true : undefined;
    });
    const counting = Promise.all([count(), together]);
    await other.signal('SIGCONT');
    expect(await counting).toEqual([2, 2]);
  } finally {
    await other.signal('SIGCONT');
  }
  await splitting;
  await directory.deleteProject('default', 'settling', by);
});

test('a worker keeps nothing in memory of what is recorded by way of the coordinator', async () => {
  await node(0).directory.createProject(projectOf('kept'), by);
  const id = (at: number) => Buffer.from(`${at}`.padStart(16));
  const record = (at: number) => [['kept', [id(at)], [at], ['slack'], [1], ['x'], [1]], 'record'] as const;
  const recordOne = (at: number) => [['kept', id(1e6 + at), at, 'slack', 1, 'x'], 'record_one'] as const;
  const importCounts = (at: number) =>
    [['kept', ['x'], ['slack'], [2 * at], [2 * at + 1], [1], [1]], 'import_counts'] as const;
  await onDatabase(workerAt((await place('kept')).port).url(), async (client) => {
    const used = async () => {
      const { rows } = await client.query(
        'SELECT sum(total_bytes)::float8 AS bytes FROM pg_backend_memory_contexts',
      );
      return rows[0].bytes;
    };
    for (const callOf of [record, recordOne, importCounts]) {
      let before = 0;
      for (let at = 0; at < 300; at++) {
        // What it keeps once, it has then.
        if (at === 100) before = await used();
        const [values, name] = callOf(at);
        const places = values.map((_, place) => `$${place + 1}`);
        await client.query(`SELECT ${schema}.${name}(${places})`, [...values]);
      }
      expect((await used()) - before, callOf(0)[1]).toBeLessThan(200 * 1000);
    }
  });
  await node(0).directory.deleteProject('default', 'kept', by);
});

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

function node(at: number): Store {
  const found = stores[at];
  if (found === undefined) throw new Error('the nodes are not open');
  return found;
}

/** The id of a project that is not there, and would be on this worker. */
async function newIdOn(port: number): Promise<string> {
  for (let at = 0; at < 100; at++) {
    const id = `new${port}x${at}`;
    if ((await place(id)).port === port) return id;
  }
  throw new Error(`no id was found for the worker with the port ${port}`);
}

/** What needs all workers. */
async function expectNoUpkeep(): Promise<void> {
  const { maintenance } = node(0);
  await expect(maintenance.verify()).rejects.toMatchObject(isStopped);
  await expect(maintenance.applyRetention(Date.now(), 10)).rejects.toMatchObject(isStopped);
  await expect(maintenance.purgeDeleted(10)).rejects.toMatchObject(isStopped);
}

test('a worker that is down stops what the table of the page says', () =>
  underLoad(async (load) => {
    const { port } = await place('p0');
    const worker = workerAt(port);
    const [ownNew, otherNew] = [await newIdOn(port), await newIdOn(otherWorker(port).port)];
    const own = await projectsOn(port);
    const others = ids.filter((id) => !own.includes(id));
    const [other = ''] = others;
    const [{ directory }, seen] = [node(0), node(1).directory];
    await directory.createKey(keyOf('of p0', recording('p0')), by);
    const before = others.map((id) => load.refused(id));
    await worker.kill();
    await load.refusal(own);
    await load.progress(others);
    expect(others.map((id) => load.refused(id))).toEqual(before);

    const change = (id: string) => directory.changeProject('default', id, { name: 'changed' }, by);
    await expect(change('p0')).rejects.toMatchObject(isStopped);
    await expect(directory.createKey(keyOf('k1', recording('p0')), by)).rejects.toMatchObject(isStopped);
    await expect(directory.deleteProject('default', 'p0', by)).rejects.toMatchObject(isStopped);
    await expect(directory.createProject(projectOf(ownNew), by)).rejects.toMatchObject(isStopped);
    await expectNoUpkeep();
    await change(other);
    await directory.createKey(keyOf('k2', recording(other)), by);
    await directory.createProject(projectOf(otherNew), by);
    await directory.createKey(keyOf('k3'), by);
    for (const what of ['disable', 'enable', 'revoke'] as const) {
      await directory.changeKey('default', 'of p0', what, { ...by, at: 2000 });
      const access = await seen.findAccess('hash of of p0', 'p0');
      expect(access?.project?.id).toBe('p0');
      expect(access?.key.disabledAt).toBe(what === 'disable' ? 2000 : null);
      expect(access?.key.revokedAt).toBe(what === 'revoke' ? 2000 : null);
    }
    for (const id of ids) expect((await seen.findAccess(key.hash, id))?.project?.id).toBe(id);
    const listed = await seen.listProjects('default');
    expect(listed.map(({ id }) => id).sort()).toEqual([...ids, otherNew].sort());
    expect(listed.find(({ id }) => id === other)?.name).toBe('changed');
    expect((await seen.listKeys('default')).map(({ id }) => id)).toEqual(
      expect.arrayContaining(['k2', 'k3']),
    );
    expect(await seen.listMembers('default')).toEqual([]);
    expect((await seen.readAudit('default', { limit: 1 }))[0]?.action).toBe('key.revoke');
    await node(1).maintenance.check();

    await directory.deleteProject('default', otherNew, by);
    await worker.start();
    await load.progress(own);
    await change('p0');
  }));

test('a worker fails over to its standby', async () => {
  const { port } = await place('p0');
  const gone = workerAt(port);
  const standby = await cluster.addStandby(gone);
  await underLoad(async (load) => {
    const own = await projectsOn(port);
    const others = ids.filter((id) => !own.includes(id));
    const before = others.map((id) => load.refused(id));
    await gone.kill();
    await load.refusal(own);
    await promote(standby);
    await cluster.ask(
      "SELECT citus_update_node(nodeid, '127.0.0.1', $2) FROM pg_dist_node WHERE nodename = '127.0.0.1' AND nodeport = $1",
      [port, standby.port],
    );
    await load.progress();
    expect(others.map((id) => load.refused(id))).toEqual(before);
    expect(await projectsOn(standby.port)).toEqual(own);
    await node(1).directory.changeProject('default', 'p0', { name: 'after' }, by);
  });
  await cluster.replace(gone, standby);
});

test('while the coordinator is down, what the table of the page says stops', () =>
  underLoad(async () => {
    const { directory, maintenance } = node(0);
    await cluster.coordinator.kill();
    // Every request with a key begins with it.
    await expect(directory.findAccess(key.hash, 'p0')).rejects.toMatchObject(isStopped);
    await expect(directory.listProjects('default')).rejects.toMatchObject(isStopped);
    await expect(directory.listKeys('default')).rejects.toMatchObject(isStopped);
    await expect(directory.listMembers('default')).rejects.toMatchObject(isStopped);
    await expect(directory.readAudit('default', { limit: 1 })).rejects.toMatchObject(isStopped);
    await expect(directory.createProject(projectOf('late'), by)).rejects.toMatchObject(isStopped);
    await expect(directory.changeProject('default', 'p0', { name: 'late' }, by)).rejects.toMatchObject(
      isStopped,
    );
    await expect(directory.createKey(keyOf('late'), by)).rejects.toMatchObject(isStopped);
    await expect(directory.changeKey('default', 'k0', 'revoke', by)).rejects.toMatchObject(isStopped);
    await expect(maintenance.check()).rejects.toMatchObject(isStopped);
    await expectNoUpkeep();
    await cluster.coordinator.start();
    expect((await node(1).directory.listProjects('default')).map(({ name }) => name)).not.toContain('late');
  }));

/** The last one, because the other nodes know only the server that is gone. */
test('the coordinator fails over to its standby', async () => {
  const gone = cluster.coordinator;
  const standby = await cluster.addStandby(gone);
  const url = urlOf([gone, standby], `schema=${schema}&target_session_attrs=read-write`);
  const nodes = [await openForTest(url), await openForTest(url)];
  await underLoad(async (load) => {
    await gone.kill();
    await expect(nodes[0]?.directory.listProjects('default')).rejects.toMatchObject(isStopped);
    await promote(standby);
    await cluster.replace(gone, standby);
    await cluster.ask("SELECT citus_set_coordinator_host('127.0.0.1', $1)", [standby.port]);
    await load.progress();
    await nodes[0]?.directory.changeProject('default', 'p0', { name: 'moved' }, by);
    expect((await nodes[1]?.directory.findAccess(key.hash, 'p0'))?.project?.name).toBe('moved');
  }, nodes);
});
