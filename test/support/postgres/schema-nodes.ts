/** The program as nodes on one PostgreSQL database: processes, each with a schema's URL in its environment. */
import {
  type Outcome,
  type Running,
  type RunOptions,
  runCli,
  type Server,
  startCli,
  urlIn,
} from '../cli/cli.js';

/** Without one, each start warns. */
const sharedSecret = 'a secret of all nodes of a database';

/** The program, run on one database, with no settings but these and `PATH`. */
export function programOn(databaseUrl: string, more: Readonly<Record<string, string>> = {}) {
  const withDatabase = (options: RunOptions = {}) => ({
    ...options,
    env: { DATABASE_URL: databaseUrl, CALLER_STATS_SECRET: sharedSecret, ...more, ...options.env },
  });
  return {
    run: (args: readonly string[], options?: RunOptions): Promise<Outcome> =>
      runCli(args, withDatabase(options)),
    start: (args: readonly string[] = [], options?: RunOptions): Running =>
      startCli(['serve', '--port', '0', ...args], withDatabase(options)),
  };
}

/** A server that listens, whether its database can be used or not. */
export async function listening(running: Running): Promise<Pick<Server, 'url'>> {
  return { url: urlIn(await running.printed(/^caller-stats listens on .+\n/m)) };
}

/** A server that has said all that it says at its start: its database can be used. */
export async function ready(running: Running): Promise<Pick<Server, 'url' | 'stdout'>> {
  const stdout = await running.printed(/^Documentation: .+\n/m);
  return { url: urlIn(stdout), stdout };
}

/** The status of `/livez` or `/readyz`. */
export async function statusOf({ url }: Pick<Server, 'url'>, path: string): Promise<number> {
  const response = await fetch(`${url}${path}`);
  await response.arrayBuffer();
  return response.status;
}
