/**
 * PgBouncer as the docs configure it, before a database as providers sell it: only over TLS, without a superuser, and with few
 * connections. Both are killed in turns. Needs `pgbouncer`: on the PATH, in /usr/sbin, or as CALLER_STATS_TEST_PGBOUNCER.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { samples } from '../../support/cli/samples.js';
import { freePort } from '../../support/free-port.js';
import { type Certificate, certificateFor, newAuthority } from '../../support/postgres/certificates.js';
import { Cluster, eventually, Load, ownPostgres } from '../../support/postgres/nodes.js';
import { serverUser } from '../../support/postgres/postgres-installation.js';
import { newestPostgres, type PostgresServer } from '../../support/postgres/postgres-server.js';
import { newUser, type User } from '../../support/postgres/postgres-user.js';
import { onDatabase } from '../../support/storage/store.js';

const kills = 12;
const senders = 4;
const deliveriesBetween = 20;
const timeoutMs = 1_000_000;
const database = 'caller_stats';
/** What the recipe has, and all that the user may have. Fewer than the nodes have, so that they share them. */
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

/** The files of the recipe, and the database's own. */
interface Certificates {
  readonly ca: Certificate;
  readonly host: Certificate;
}

/** A database of a user who is not a superuser, may have few connections, and can reach it only over TLS. */
async function managedPostgres({ ca, host }: Certificates): Promise<PostgresServer & { user: User }> {
  const server = await ownPostgres(newestPostgres(), {
    settings: { ssl: 'on', ssl_cert_file: 'server.crt', ssl_key_file: 'server.key' },
    files: { 'server.crt': host.cert, 'server.key': host.key, 'ca.crt': ca.cert },
    access: [`hostssl ${database} all all scram-sha-256`, `hostnossl ${database} all all reject`],
  });
  const user = await newUser(
    server.url(),
    randomBytes(8).toString('hex'),
    `NOSUPERUSER CONNECTION LIMIT ${serverConnections}`,
  );
  await onDatabase(server.url(), (client) => client.query(`CREATE DATABASE ${database} OWNER ${user.name}`));
  // Last, so that it is undone first: a user that owns a database cannot be dropped.
  onTestFinished(() =>
    onDatabase(server.url(), async (client) => {
      await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
    }),
  );
  return Object.assign(server, { user });
}

/** The configuration that the docs show, with the places of this test. */
function recipe(places: Readonly<Record<string, string>>): string {
  const [block] = samples().filter(
    ({ language, code }) => language === 'ini' && code.includes('[pgbouncer]'),
  );
  return Object.entries(places).reduce((text, [documented, ours]) => {
    expect(text).toContain(documented);
    return text.replace(documented, ours);
  }, block?.code ?? '');
}

/** A pooler before a server, which can be killed and comes back on the same port. */
async function ownPooler(
  server: PostgresServer & { user: User },
  { ca }: Certificates,
): Promise<{ url: string; kill: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const url = new URL(server.user.url(server.url(database)));
  const texts = {
    'pgbouncer.ini': recipe({
      'db.example.com port=5432': `localhost port=${server.port}`,
      'listen_port = 6432': `listen_port = ${port}\nunix_socket_dir =`,
      '/etc/pgbouncer/ca.crt': join(folder, 'ca.crt'),
      '/etc/pgbouncer/users.txt': join(folder, 'users.txt'),
    }),
    'ca.crt': ca.cert,
    'users.txt': `"${url.username}" "${url.password}"\n`,
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(folder, name), text);
  url.port = String(port);
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(program(), ['-q', file], { ...serverUser(), cwd: folder, stdio: 'ignore' });
    await eventually(() => onDatabase(url.href, async () => true).catch(() => undefined));
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
  return { url: url.href, kill: () => kill().then(start) };
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
    const ca = await newAuthority('Test CA');
    const certificates = { ca, host: await certificateFor('localhost', ca) };
    const server = await managedPostgres(certificates);
    const pooler = await ownPooler(server, certificates);
    const cluster = await Cluster.start(pooler.url, 2, ['--database-timeout-ms', '2000']);
    const load = new Load(cluster, senders);
    for (let number = 0; number < kills; number++) {
      await load.progress(deliveriesBetween);
      if (number % 2 === 0) await pooler.kill();
      else await server.kill().then(() => server.start());
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
