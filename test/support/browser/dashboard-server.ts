/** Servers for browser tests: processes with the sample's events on a new database. */
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import {
  type FirstRun,
  firstRunOf,
  matched,
  type ServerOptions,
  type ServerProcess,
  startServer,
} from '../cli/cli.js';
import { placeWithDemo } from '../cli/cli-place.js';
import { newSchemaIn } from '../storage/store.js';
import { isDeep } from '../volume.js';

const quickPasswords = fileURLToPath(new URL('../users/quick-passwords.mjs', import.meta.url));
const serverClock = fileURLToPath(new URL('server-clock.mjs', import.meta.url));

export interface DashboardServer extends ServerProcess {
  /** The address that creates the first user. */
  readonly setUpUrl: string;
  /** The project with the sample's events, and its keys. */
  readonly firstRun: FirstRun;
}

/** Starts a server with these arguments on a new database. Both are removed after the test. */
export type DashboardStarter = (
  args?: readonly string[],
  options?: ServerOptions,
) => Promise<DashboardServer>;

export const onSqlite: DashboardStarter = async (args, options) => {
  const { spawnServer, firstRun } = await placeWithDemo();
  return withSetUpUrl(await spawnServer(args, withQuickPasswords(options)), firstRun);
};

const onPostgres: DashboardStarter = async (args = [], options = {}) => {
  const DATABASE_URL = newSchemaIn(inject('postgresServers').at(-1)?.url ?? '');
  const env = { ...options.env, DATABASE_URL };
  const server = await startServer(['--demo', ...args], withQuickPasswords({ ...options, env }));
  return withSetUpUrl(server, firstRunOf(server));
};

function withQuickPasswords({ node = [], ...options }: ServerOptions = {}): ServerOptions {
  return { ...options, node: [...node, '--import', quickPasswords] };
}

/** The same servers, whose clocks begin at this time: periods depend on the server's day. */
export function startingAt(time: string, start: DashboardStarter): DashboardStarter {
  return (args, options) =>
    start(args, {
      ...options,
      node: ['--import', serverClock],
      env: { ...options?.env, TEST_SERVER_CLOCK: time },
    });
}

function withSetUpUrl(server: ServerProcess, firstRun: FirstRun): DashboardServer {
  const setUpUrl = matched(server.stdout, /^ {2}(http:\/\/\S+\/set-up#\S+)$/m);
  return { ...server, setUpUrl, firstRun };
}

type Starters = readonly (readonly [kind: string, start: DashboardStarter])[];

/** Both kinds of database, for the test of the set-up. */
export const everyDashboardStarter: Starters = [
  ['SQLite', onSqlite],
  ['PostgreSQL', onPostgres],
];

/** Other tests use only SQLite in `npm test`: the conformance suite shows that the stores agree. */
export const dashboardStarters: Starters = isDeep ? everyDashboardStarter : [['SQLite', onSqlite]];
