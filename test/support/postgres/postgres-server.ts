/** PostgreSQL servers for tests, on free ports with their own folders. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../free-port.js';
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
  /** Settings of `postgresql.conf`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Files for the data folder, which only the server can read. */
  readonly files?: Readonly<Record<string, string>>;
  /** Additional first lines of `pg_hba.conf`. */
  readonly access?: readonly string[];
  /** Files of extensions, by name. Only for a packaged server. */
  readonly extensions?: Readonly<Record<string, string>>;
  /** Another one than a free one. */
  readonly port?: number;
  /** Begins with a base backup of this server, and follows it. */
  readonly standbyOf?: PostgresServer;
}

export interface PostgresServer {
  readonly version: string;
  readonly port: number;
  readonly password: string;
  /** The URL of a database, with the password. */
  readonly url: (database?: string) => string;
  readonly pid: number;
  /** Kills all of its processes and waits for their end. On SIGQUIT and SIGINT the first process ends the others. */
  readonly kill: (signal?: 'SIGKILL' | 'SIGQUIT' | 'SIGINT') => Promise<void>;
  /** Starts it again after `kill`, from now on with other programs if their folder is given, and waits until it is ready. */
  readonly start: (otherBin?: string) => Promise<void>;
  /** Sends a signal to all of its processes: SIGSTOP makes it unreachable, SIGCONT ends that. */
  readonly signal: (signal: NodeJS.Signals) => Promise<void>;
  /** Stops it and removes its folder. */
  readonly stop: () => Promise<void>;
}

/** Starts a new, empty server. If this process runs as root, the server runs as another user. */
export async function startPostgres(
  installation: Installation,
  { settings = {}, files = {}, access = [], extensions = {}, standbyOf, ...asked }: ServerOptions = {},
): Promise<PostgresServer> {
  const user = serverUser();
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-postgres-'));
  await chmod(folder, 0o755);
  const template = await templateFor(installation, folder);
  const { password } = standbyOf ?? template;
  const isExtended = Object.keys(extensions).length > 0;
  const bin = isExtended ? await usableBin(installation, folder) : template.bin;
  for (const [name, text] of Object.entries(extensions)) {
    await writeFile(join(folder, 'native', 'share', 'postgresql', 'extension', name), text);
  }
  const data = join(folder, 'data');
  // `-a` keeps the owner.
  if (standbyOf === undefined) await run('cp', ['-a', template.data, data]);
  else await copyServer(standbyOf, bin, data);
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    if (user !== undefined) await chown(join(data, name), user.uid, user.gid);
  }
  if (access.length > 0) {
    const usual = await readFile(join(data, 'pg_hba.conf'), 'utf8');
    await writeFile(join(data, 'pg_hba.conf'), `${access.join('\n')}\n${usual}`);
  }
  const port = asked.port ?? (await freePort());
  // Only a crash of the machine would need fsync, not a killed server.
  const all = { fsync: 'off', max_connections: '200', ...settings };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const place = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
  let usedBin = bin;
  let child = await launch(join(bin, 'postgres'), [...place, ...options], user, { port, password });
  return {
    version: installation.version,
    port,
    password,
    url: (database = 'postgres') => `postgres://tester:${password}@127.0.0.1:${port}/${database}`,
    get pid() {
      return pidOf(child);
    },
    kill: async (signal = 'SIGKILL') => {
      const gone = exit(child);
      if (signal !== 'SIGKILL') {
        sendSignal(pidOf(child), signal);
        return gone;
      }
      // Stopped first, so that it starts no other processes while they are listed.
      sendSignal(pidOf(child), 'SIGSTOP');
      const children = await childrenOf(pidOf(child));
      for (const pid of [pidOf(child), ...children]) sendSignal(pid, 'SIGKILL');
      await gone;
    },
    start: async (otherBin = usedBin) => {
      usedBin = otherBin;
      for (let tries = 1; ; tries++) {
        await rm(join(data, 'postmaster.pid'), { force: true });
        try {
          child = await launch(join(usedBin, 'postgres'), [...place, ...options], user, { port, password });
          return;
        } catch (error) {
          // A killed process may still be using the shared memory.
          if (tries === startsMax || !String(error).includes('is still in use')) throw error;
        }
      }
    },
    signal: async (signal) => {
      // The first process first: once it is stopped, the list of the others is complete.
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

/** Makes the data folder of a standby of a running server. */
async function copyServer({ port, password }: PostgresServer, bin: string, data: string): Promise<void> {
  const user = serverUser();
  await mkdir(data, { mode: 0o700 });
  if (user !== undefined) await chown(data, user.uid, user.gid);
  const primary = `host=127.0.0.1 port=${port} user=tester password=${password}`;
  const options = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
  await run(join(bin, 'pg_basebackup'), ['-D', data, '-d', primary, ...options], {
    ...user,
    cwd: dirname(data),
  });
}

/** Tries to start, each of which takes tens of milliseconds. */
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
      // The last lines explain why a server does not start.
      log = (log + text).slice(-10_000);
      if (/database system is ready to accept (read-only )?connections/.test(log)) resolve();
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
