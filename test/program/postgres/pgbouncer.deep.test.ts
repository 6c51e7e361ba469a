/**
 * PgBouncer in its transaction mode, killed in turns with the database behind it. Needs `pgbouncer`: on the PATH, in
 * /usr/sbin, or as CALLER_STATS_TEST_PGBOUNCER.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/free-port.js';
import { Cluster, eventually, Load, ownPostgres } from '../../support/postgres/nodes.js';
import { serverUser } from '../../support/postgres/postgres-installation.js';
import { newestPostgres, type PostgresServer } from '../../support/postgres/postgres-server.js';
import { onDatabase } from '../../support/storage/store.js';

const kills = 12;
const senders = 4;
const deliveriesBetween = 20;
const timeoutMs = 1_000_000;
/** Fewer than the nodes have, so that they share them. */
const serverConnections = 5;

function program(): string {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'];
  const named = process.env['CALLER_STATS_TEST_PGBOUNCER'];
  const found = [named ?? '', ...folders.map((folder) => join(folder, 'pgbouncer'))].find(existsSync);
  if (found === undefined) {
    throw new Error(
      'This test needs PgBouncer: install it (on Debian: apt install pgbouncer), or name it in CALLER_STATS_TEST_PGBOUNCER.',
    );
  }
  return found;
}

/** A pooler before a server, which can be killed and comes back on the same port. */
async function ownPooler(server: PostgresServer): Promise<{ url: string; kill: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=127.0.0.1 port=${server.port} user=tester password=${server.password}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    `default_pool_size = ${serverConnections}`,
    'max_client_conn = 500',
    'server_login_retry = 1',
  ];
  await writeFile(file, `${lines.join('\n')}\n`);
  const url = `postgres://tester@127.0.0.1:${port}/postgres`;
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(program(), ['-q', file], { ...serverUser(), cwd: folder, stdio: 'ignore' });
    await eventually(() => onDatabase(url, async () => true).catch(() => undefined));
  };
  const kill = async (): Promise<void> => {
    const ended = new Promise((resolve) => child?.once('exit', resolve));
    child?.kill('SIGKILL');
    await ended;
  };
  await start();
  onTestFinished(async () => {
    await kill();
    await rm(folder, { recursive: true, force: true });
  });
  return { url, kill: () => kill().then(start) };
}

/** What each session with the server is set to. A transaction holds its session, so as many at once see all of them. */
async function eachSession(url: string, held = 0): Promise<object[]> {
  if (held === serverConnections) return [];
  return onDatabase(url, async (client) => {
    await client.query('BEGIN');
    const { rows } = await client.query(`SELECT current_setting('statement_timeout') AS timeout,
      current_setting('default_transaction_isolation') AS isolation,
      (SELECT count(*)::integer FROM pg_prepared_statements) AS prepared`);
    const others = await eachSession(url, held + 1);
    await client.query('COMMIT');
    return [...rows, ...others];
  });
}

test(
  'counts every query once while a pooler and its database are killed, and leaves no setting on a session',
  async () => {
    const server = await ownPostgres(newestPostgres());
    const pooler = await ownPooler(server);
    const cluster = await Cluster.start(pooler.url, 2, ['--database-timeout-ms', '2000']);
    const load = new Load(cluster, senders);
    for (let number = 0; number < kills; number++) {
      await load.progress(deliveriesBetween);
      if (number % 2 === 0) await pooler.kill();
      else await server.kill().then(server.start);
    }
    await load.progress(deliveriesBetween);
    await load.finish();
    expect([...load.ledger.outcomes].filter((one) => !['200', '503'].includes(one))).toEqual([]);
    await cluster.expectExactly(load.ledger);
    const sessions = await eachSession(pooler.url);
    expect(sessions).toEqual(
      sessions.map(() => ({ timeout: '0', isolation: 'read committed', prepared: 0 })),
    );
    await cluster.expectStops();
  },
  timeoutMs,
);
