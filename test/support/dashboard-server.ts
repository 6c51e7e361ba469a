/** A server for browsers: a process of its own, with the sample's events, on a new database of either kind. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { type FirstRun, firstRunOf, matched, type RunOptions, type Server, startServer } from './cli.js';
import { newSchemaIn } from './store.js';
import { temporaryFolder } from './temporary.js';

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

/** One for each kind of database that tests have; of PostgreSQL the newest alone, for a browser cannot tell them apart. */
export const dashboardStarters: readonly (readonly [kind: string, start: DashboardStarter])[] = [
  ['SQLite', onSqlite],
  ...inject('postgresServers')
    .slice(-1)
    .map(
      ({ version, url }) =>
        [
          `PostgreSQL ${version}`,
          (async (args, options) => start(newSchemaIn(url), args, options)) satisfies DashboardStarter,
        ] as const,
    ),
];

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
