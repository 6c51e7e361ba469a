/** A server for browsers: a process of its own, with the sample's events, on a new database of either kind. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { type FirstRun, firstRunOf, matched, type RunOptions, type Server, startServer } from './cli.js';
import { newSchemaIn } from './store.js';
import { temporaryFolder } from './temporary.js';
import { isDeep } from './volume.js';

const quickPasswords = fileURLToPath(new URL('./quick-passwords.mjs', import.meta.url));

export interface DashboardServer extends Server {
  /** The address that makes the first user. */
  readonly setUpUrl: string;
  /** The project with the sample's events, and its keys. */
  readonly firstRun: FirstRun;
}

/** Starts a server with these arguments beside its database; both are gone when the test is over. */
export type DashboardStarter = (args?: readonly string[], options?: RunOptions) => Promise<DashboardServer>;

export const onSqlite: DashboardStarter = async (args, options) =>
  start(`sqlite:${join(await temporaryFolder(), 'caller-stats.db')}`, args, options);

const onPostgres: DashboardStarter = (args, options) =>
  start(newSchemaIn(inject('postgresServers').at(-1)?.url ?? ''), args, options);

type Starters = readonly (readonly [kind: string, start: DashboardStarter])[];

/** Both kinds of database, for the test of setting up. */
export const everyDashboardStarter: Starters = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
];

/** The other tests use SQLite alone in `npm test`; the conformance suite shows that the stores agree. */
export const dashboardStarters: Starters = isDeep ? everyDashboardStarter : [['SQLite', onSqlite]];

async function start(
  database: string,
  args: readonly string[] = [],
  { env, ...options }: RunOptions = {},
): Promise<DashboardServer> {
  const server = await startServer(['--demo', ...args], {
    ...options,
    node: ['--import', quickPasswords],
    env: { ...env, DATABASE_URL: database },
  });
  const setUpUrl = matched(server.stdout, /^ {2}(http:\/\/\S+\/set-up#\S+)$/m);
  return { ...server, setUpUrl, firstRun: firstRunOf(server) };
}
