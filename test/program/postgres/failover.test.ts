/** A database on several hosts: which of them is used, and what a failover from one to another loses: nothing. */
import { expect, test } from 'vitest';
import { openStore } from '../../../src/storage/open.js';
import { Cluster, eventually, Load } from '../../support/postgres/nodes.js';
import type { PostgresServer } from '../../support/postgres/postgres-server.js';
import { ownPrimary, ownStandby, promote, urlOf } from '../../support/postgres/replication.js';
import { by, onDatabase, openForTest, projectOf } from '../../support/storage/store.js';
import { isDeep } from '../../support/volume.js';

const kills = isDeep ? 12 : 1;
const senders = 4;
const deliveriesBetween = 20;
const deadline = ['--database-timeout-ms', '2000'];
/** Generous: each failover waits for conditions, however slow the machine is. */
const timeoutMs = 1_000_000;

/** The ports of the servers that have a connection of this name. */
async function connectedTo(servers: readonly PostgresServer[], name: string): Promise<number[]> {
  const found = servers.map((server) =>
    onDatabase(server.url(), async (client) => {
      const { rowCount } = await client.query('SELECT FROM pg_stat_activity WHERE application_name = $1', [
        name,
      ]);
      return rowCount === 0 ? [] : [server.port];
    }),
  );
  return (await Promise.all(found)).flat();
}

test(
  'a standby is used and refused as target_session_attrs says',
  async () => {
    const primary = await ownPrimary();
    const standby = await ownStandby(primary);
    const gone = { ...primary, port: 1 };
    const store = await openStore(urlOf([primary], ''));
    await store.directory.createProject(projectOf('docs'), by);
    await store.close();

    for (const [servers, target, message] of [
      [[standby], 'read-write', /it is a standby, and target_session_attrs is read-write/],
      [
        [standby, gone],
        'primary',
        /127.0.0.1:\d+: it is a standby, .+ is primary; 127.0.0.1:1: nothing answers/,
      ],
      [[gone, primary], 'standby', /it is a primary server that can be written to, and target/],
      [[primary], 'read-only', /it is a primary server that can be written to/],
      [[gone], 'any', /: nothing answers/],
    ] as const) {
      await expect(openStore(urlOf(servers, `target_session_attrs=${target}`)), target).rejects.toMatchObject(
        {
          code: 'unavailable',
          message: expect.stringMatching(message),
        },
      );
    }

    for (const [servers, target, used] of [
      [[standby, primary], 'any', standby],
      [[gone, primary], 'any', primary],
      [[standby, primary], 'read-write', primary],
      [[standby, gone, primary], 'primary', primary],
      [[primary, standby], 'read-only', standby],
      [[primary, standby], 'standby', standby],
      [[primary, standby], 'prefer-standby', standby],
      [[gone, primary], 'prefer-standby', primary],
    ] as const) {
      const name = `${target} of ${servers.map(({ port }) => port).join()}`;
      const open = await openForTest(
        urlOf(servers, `target_session_attrs=${target}&application_name=${name}`),
      );
      await open.maintenance.check();
      expect(await connectedTo([primary, standby], name), name).toEqual([used.port]);
      const recording = open.counts.record('docs', [{ id: name, caller: 'web', occurredAt: 0 }]);
      if (used === primary) expect(await recording).toEqual({ recorded: 1, duplicates: 0 });
      else if (target === 'any') {
        // The refusal sends the next connection to the other host.
        expect(await recording).toEqual({ recorded: 1, duplicates: 0 });
        expect(await connectedTo([primary, standby], name)).toContain(primary.port);
      } else {
        await expect(recording).rejects.toMatchObject({ code: 'unavailable', message: /read-only/ });
      }
    }
  },
  timeoutMs,
);

/** Cancelling statements that wait for a standby makes the server report success. */
async function cancelWait(primary: Awaited<ReturnType<typeof ownPrimary>>, statements = 1): Promise<void> {
  await onDatabase(primary.url(), (client) =>
    eventually(async () => {
      const { rows } = await client.query<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
      );
      if (rows.length < statements) return undefined;
      await client.query('SELECT pg_cancel_backend(pid) FROM unnest($1::integer[]) AS pid', [
        rows.map(({ pid }) => pid),
      ]);
      return true;
    }),
  );
}

test(
  'a change that a standby does not have is not reported as done',
  async () => {
    const primary = await ownPrimary();
    const standby = await ownStandby(primary);
    const store = await openForTest(primary.url());
    await standby.kill();
    const refused = expect(store.directory.createProject(projectOf('docs'), by)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/the wait for a standby server was cancelled/),
    });
    await cancelWait(primary);
    await refused;
  },
  timeoutMs,
);

test(
  'a repeated recording waits for a standby, too, although it writes nothing',
  async () => {
    const primary = await ownPrimary();
    const standby = await ownStandby(primary);
    const store = await openForTest(primary.url(), { timeoutMs: 5000 });
    for (const id of ['one', 'several', 'counts']) await store.directory.createProject(projectOf(id), by);
    await standby.kill();
    const query = { id: 'a', caller: 'web', occurredAt: 0 };
    const count = { source: 'old', caller: 'web', start: 0, end: 1, count: 2 };
    // After the cancelled waits, the rows are there, and the store tries again.
    const settled = Promise.allSettled([
      store.counts.record('one', [query]),
      store.counts.record('several', [query, { ...query, id: 'b' }]),
      store.counts.importCounts('counts', [count]),
    ]);
    await cancelWait(primary, 3);
    const unavailable = { status: 'rejected', reason: { code: 'unavailable' } };
    expect(await settled).toMatchObject([unavailable, unavailable, unavailable]);
  },
  timeoutMs,
);

test(
  'a failover loses nothing that was acknowledged, and nodes find the new primary by themselves',
  async () => {
    let primary = await ownPrimary();
    let standby = await ownStandby(primary);
    const url = urlOf([primary, standby], 'target_session_attrs=read-write');
    const cluster = await Cluster.start(url, 2, deadline);
    const load = new Load(cluster, senders);
    await load.progress(deliveriesBetween);
    // As before a switch-over: open connections refuse to write as well.
    const failuresBefore = load.ledger.failures;
    await onDatabase(primary.url(), (client) =>
      client
        .query('ALTER SYSTEM SET default_transaction_read_only = on')
        .then(() => client.query('SELECT pg_reload_conf()')),
    );
    await load.until(() => load.ledger.failures > failuresBefore + senders);
    for (let number = 0; number < kills; number++) {
      expect(load.inFlight()).toBeGreaterThan(0);
      const { port } = primary;
      await primary.kill(number % 2 === 0 ? 'SIGKILL' : 'SIGQUIT');
      await promote(standby);
      primary = standby;
      // Until it is there, no commit is acknowledged.
      standby = await ownStandby(primary, port);
      await load.progress(deliveriesBetween);
    }
    await load.finish();
    expect([...load.ledger.outcomes].filter((one) => !['200', '503'].includes(one))).toEqual([]);
    await cluster.expectExactly(load.ledger);
    await cluster.expectStops();
  },
  timeoutMs,
);
