/** A database that cannot be reached, is not there yet, or goes while it is being set up. */
import { describe, expect, test } from 'vitest';
import { databaseConnectionsMax } from '../../../src/domain/limits.js';
import { openStore } from '../../../src/storage/open.js';
import type { RecordResult } from '../../../src/storage/ports/store.js';
import { firstRunOf, kill, runCli, type Server, startCli, urlIn } from '../../support/cli/cli.js';
import { Cluster, eventually, Load, ownPostgres, waitingForLock } from '../../support/postgres/nodes.js';
import {
  installations,
  newestPostgres,
  type PostgresServer,
} from '../../support/postgres/postgres-server.js';
import { knownDelivery } from '../../support/storage/ledger.js';
import { onDatabase } from '../../support/storage/store.js';
import { isDeep } from '../../support/volume.js';

const [older] = installations();
const newest = newestPostgres();

/** Short, for each round waits for it. */
const deadline = ['--database-timeout-ms', '1000'];
const rounds = isDeep ? 4 : 1;
const senders = 4;
const someDeliveries = 20;
const burst = 200;

const ways: readonly [
  name: string,
  leave: (server: PostgresServer) => Promise<void>,
  comeBack: (server: PostgresServer) => Promise<void>,
][] = [
  ['does not answer', (server) => server.signal('SIGSTOP'), (server) => server.signal('SIGCONT')],
  ['refuses connections', (server) => server.kill(), (server) => server.start()],
];

describe.each(ways)('while the database %s:', (_name, leave, comeBack) => {
  test('requests get 503 within the deadline, and 200 once it is back', async () => {
    const server = await ownPostgres(newest);
    const cluster = await Cluster.start(server.url(), 2, deadline);
    const load = new Load(cluster, senders);
    await load.progress(someDeliveries);
    await leave(server);
    const statusesOf = async (): Promise<(number | undefined)[][]> => {
      const asked = cluster.nodes.map(async (node) => {
        const answers = [
          cluster.count(node),
          cluster.record(node, knownDelivery(0)),
          cluster.get(node, '/readyz'),
          cluster.get(node, '/livez'),
        ];
        return (await Promise.all(answers)).map(({ status }) => status);
      });
      return Promise.all(asked);
    };
    // All of these are answered before the database is back: whatever waited for it would never end.
    for (let round = 0; round < rounds; round++) {
      expect(await statusesOf()).toEqual(cluster.nodes.map(() => [503, 503, 503, 200]));
    }
    // Far more than there are connections.
    const deliveries = Array.from({ length: burst }, (_, at) => knownDelivery(at));
    for (const events of deliveries) load.ledger.send(events);
    const recordAll = () =>
      Promise.all(deliveries.map((events, at) => cluster.record(nodeAt(cluster, at), events)));
    for (const { status } of await recordAll()) expect(status).toBe(503);
    await comeBack(server);
    await load.progress(someDeliveries);
    // A server that did not answer may have recorded some of what was refused, so the senders repeat it.
    for (const [at, { status, body }] of (await recordAll()).entries()) {
      expect(status).toBe(200);
      load.ledger.acknowledge(deliveries[at] ?? [], body as RecordResult);
    }
    await load.finish();
    expect(await statusesOf()).toEqual(cluster.nodes.map(() => [200, 200, 200, 200]));
    expect(load.ledger.outcomes).toEqual(new Set(['200', '503']));
    await expectConnections(server, cluster.nodes.length * databaseConnectionsMax);
    await cluster.expectExactly(load.ledger);
    await cluster.expectStops();
  });

  test('nodes start and stop, and one prints its first keys once the database is back', async () => {
    const server = await ownPostgres(older);
    await leave(server);
    const start = () => startCli(['serve', '--port', '0', '--database', server.url(), ...deadline]);
    const [node, other] = [start(), start()];
    await other.printed(/^caller-stats listens on .+\n/m);
    kill(other.pid, 'SIGTERM');
    const ended = await other.ended;
    expect(ended).toMatchObject({ status: 0, signal: null });
    expect(ended.stdout).not.toContain('admin key');
    const url = urlIn(await node.printed(/^caller-stats listens on .+\n/m));
    const statusOf = async (path: string) => (await fetch(`${url}${path}`)).status;
    expect([await statusOf('/livez'), await statusOf('/readyz')]).toEqual([200, 503]);
    await comeBack(server);
    const firstRun = firstRunOf({ stdout: await node.printed(/^Documentation: .+\n/m) });
    expect(await statusOf('/readyz')).toBe(200);
    const { stdout } = await runCli(['project', 'list', '--json', '--database', server.url()]);
    expect(JSON.parse(stdout)).toMatchObject([{ id: firstRun.project }]);
    // The other way to be without a database: it was there, and has gone.
    await leave(server);
    kill(node.pid, 'SIGTERM');
    expect(await node.ended).toMatchObject({ status: 0, signal: null });
  });
});

function nodeAt({ nodes }: Cluster, at: number): Server {
  const node = nodes[at % nodes.length];
  if (node === undefined) throw new Error('there is no node');
  return node;
}

/** Resolves once nodes have no more connections than this; those that were given up end on the server after a while. */
async function expectConnections(server: PostgresServer, most: number): Promise<void> {
  await onDatabase(server.url(), (client) =>
    eventually(async () => {
      const { rowCount } = await client.query(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'caller-stats'",
      );
      return (rowCount ?? 0) <= most ? true : undefined;
    }),
  );
}

/** Keeps nodes from making or changing the schema, as one that is at it does, until `work` is done. */
async function whileBeingSetUp(server: PostgresServer, work: () => Promise<void>): Promise<void> {
  await onDatabase(server.url(), async (client) => {
    client.on('error', () => {});
    await client.query("SELECT pg_advisory_lock(x'43535453'::int, hashtext('caller_stats'))");
    await work();
  });
}

describe('while a node waits for another that creates the schema:', () => {
  test('it creates the schema after the database was killed and came back', async () => {
    const server = await ownPostgres(newest);
    let node: ReturnType<typeof startCli> | undefined;
    await whileBeingSetUp(server, async () => {
      node = startCli(['serve', '--port', '0', '--database', server.url(), ...deadline]);
      await waitingForLock(server);
      await server.kill();
    });
    await server.start();
    expect(firstRunOf({ stdout: (await node?.printed(/^Documentation: .+\n/m)) ?? '' })).toBeDefined();
  });

  test('it stops cleanly', async () => {
    const server = await ownPostgres(older);
    await whileBeingSetUp(server, async () => {
      const node = startCli(['serve', '--port', '0', '--database', server.url(), ...deadline]);
      await node.printed(/^caller-stats listens on .+\n/m);
      await waitingForLock(server);
      kill(node.pid, 'SIGTERM');
      expect(await node.ended).toMatchObject({ status: 0, signal: null });
    });
  });
});

test('a node replaces a connection that hangs while it checks the schema', async () => {
  const server = await ownPostgres(older);
  await (await openStore(server.url())).close();
  await onDatabase(server.url(), async (client) => {
    await client.query('BEGIN; LOCK TABLE caller_stats.schema_version IN ACCESS EXCLUSIVE MODE');
    const node = startCli(['serve', '--port', '0', '--database', server.url(), ...deadline]);
    // Nothing comes from there any more, nor does it end, as when a network falls apart.
    kill(await waitingForLock(server), 'SIGSTOP');
    await client.query('COMMIT');
    expect(firstRunOf({ stdout: await node.printed(/^Documentation: .+\n/m) })).toBeDefined();
  });
});

test('prints keys once the database is back after failing during the first run', async () => {
  const server = await ownPostgres(newest);
  const args = ['serve', '--port', '0', '--database', server.url(), ...deadline];
  await onDatabase(server.url(), async (client) => {
    // Its tables, empty.
    await (await openStore(server.url())).close();
    // Reads are let through, and a first project is not.
    await client.query('BEGIN; LOCK TABLE caller_stats.project IN SHARE MODE');
    const node = startCli(args);
    const given = await waitingForLock(server);
    // The node gives up, and begins again.
    await waitingForLock(server, given);
    await client.query('COMMIT');
    const firstRun = firstRunOf({ stdout: await node.printed(/^Documentation: .+\n/m) });
    const { stdout } = await runCli(['project', 'list', '--json', '--database', server.url()]);
    expect(JSON.parse(stdout)).toMatchObject([{ id: firstRun.project }]);
    expect((await client.query('SELECT id FROM caller_stats.api_key')).rowCount).toBe(2);
  });
});
