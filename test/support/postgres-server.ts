/** Real PostgreSQL servers for tests: started and stopped by their process id, on free ports, with folders of their own. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.js';
import {
  type Installation,
  installations,
  newestPostgres,
  olderPostgres,
  serverUser,
  templateFor,
  usableBin,
} from './postgres-installation.js';

export { installations, newestPostgres, olderPostgres };

const run = promisify(execFile);

export interface ServerOptions {
  /** More of `postgresql.conf`, as name and value. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Copied into the data folder, readable by the server alone. */
  readonly files?: Readonly<Record<string, string>>;
  /** Lines of `pg_hba.conf` before the usual ones. */
  readonly access?: readonly string[];
  /** Files of extensions, by name; only for a packaged server, whose copy they are put into. */
  readonly extensions?: Readonly<Record<string, string>>;
}

export interface PostgresServer {
  readonly version: string;
  readonly port: number;
  readonly password: string;
  /** The URL of a database; of the first one where none is named. Holds the password. */
  readonly url: (database?: string) => string;
  readonly pid: number;
  /** Ends all of its processes without any warning, and waits until they are gone. */
  readonly kill: () => Promise<void>;
  /** Starts it again after `kill`, and waits until it answers. */
  readonly start: () => Promise<void>;
  /** Sends a signal to the server and all of its children: SIGSTOP makes it unreachable, SIGCONT mends that. */
  readonly signal: (signal: NodeJS.Signals) => Promise<void>;
  /** Stops it and removes its folder. */
  readonly stop: () => Promise<void>;
}

/** Starts a new, empty server. As root, which PostgreSQL refuses to run as, it runs as an unprivileged user. */
export async function startPostgres(
  installation: Installation,
  { settings = {}, files = {}, access = [], extensions = {} }: ServerOptions = {},
): Promise<PostgresServer> {
  const user = serverUser();
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-postgres-'));
  await chmod(folder, 0o755);
  const template = await templateFor(installation, folder);
  const { password } = template;
  const isExtended = Object.keys(extensions).length > 0;
  const bin = isExtended ? await usableBin(installation, folder) : template.bin;
  for (const [name, text] of Object.entries(extensions)) {
    await writeFile(join(folder, 'native', 'share', 'postgresql', 'extension', name), text);
  }
  const data = join(folder, 'data');
  // With its owner, who is not always ourselves.
  await run('cp', ['-a', template.data, data]);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    if (user !== undefined) await chown(join(data, name), user.uid, user.gid);
  }
  if (access.length > 0) {
    const usual = await readFile(join(data, 'pg_hba.conf'), 'utf8');
    await writeFile(join(data, 'pg_hba.conf'), `${access.join('\n')}\n${usual}`);
  }
  const port = await freePort();
  // What the system was told to write survives a killed server; only a crash of the machine would need more.
  const all = { fsync: 'off', max_connections: '200', ...settings };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const place = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
  let child = await launch(join(bin, 'postgres'), [...place, ...options], user, { port, password });
  return {
    version: installation.version,
    port,
    password,
    url: (database = 'postgres') => `postgres://tester:${password}@127.0.0.1:${port}/${database}`,
    get pid() {
      return pidOf(child);
    },
    kill: async () => {
      const gone = exit(child);
      // Stopped first, so that it starts no others while they are listed. A stopped process dies of SIGKILL as well.
      sendSignal(pidOf(child), 'SIGSTOP');
      const children = await childrenOf(pidOf(child));
      for (const pid of [pidOf(child), ...children]) sendSignal(pid, 'SIGKILL');
      await gone;
    },
    start: async () => {
      for (let tries = 1; ; tries++) {
        await rm(join(data, 'postmaster.pid'), { force: true });
        try {
          child = await launch(join(bin, 'postgres'), [...place, ...options], user, { port, password });
          return;
        } catch (error) {
          // A process that was killed with its server may still be on its way out, and then has the memory they shared.
          if (tries === startsMax || !String(error).includes('is still in use')) throw error;
        }
      }
    },
    signal: async (signal) => {
      // Its first process first: once that is stopped, the list of the others is complete.
      sendSignal(pidOf(child), signal);
      for (const pid of await childrenOf(pidOf(child))) sendSignal(pid, signal);
    },
    stop: async () => {
      const gone = exit(child);
      sendSignal(pidOf(child), 'SIGINT');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Each takes tens of milliseconds. */
const startsMax = 100;

async function launch(
  program: string,
  args: readonly string[],
  user: { uid: number; gid: number } | undefined,
  { port, password }: { port: number; password: string },
): Promise<ChildProcess> {
  const child = spawn(program, args, { ...user, cwd: dirname(program), stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  const saysReady = new Promise<void>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      // The newest lines are what explains a server that does not start.
      log = (log + text).slice(-10_000);
      if (log.includes('database system is ready to accept connections')) resolve();
    });
  });
  await Promise.race([saysReady, exit(child)]);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL did not start: ${log}`);
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'tester', password, database: 'postgres' });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query('SELECT 1');
      return child;
    } catch {
      await new Promise((resolve) => setImmediate(resolve));
    } finally {
      await client.end().catch(() => {});
    }
  }
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('PostgreSQL could not be started');
  return child.pid;
}

async function exit(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once('exit', resolve));
}

async function childrenOf(pid: number): Promise<number[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
