/** What `caller-stats doctor` finds, and the rules that need no machine. */
import { formatCount } from '../../domain/format.js';
import { secondMs } from '../../domain/time/duration.js';
import type { ClusterServer, IncompleteCluster } from '../../storage/ports/store-stats.js';

export interface Finding {
  readonly check:
    | 'settings'
    | 'folder'
    | 'permissions'
    | 'disk'
    | 'database'
    | 'cluster'
    | 'clock'
    | 'Node'
    | 'secret'
    | 'recording'
    | 'port'
    | 'public URL'
    | 'time zones';
  /** A server with a problem does not start or loses data; one with a warning works with a risk. */
  readonly status: 'ok' | 'warning' | 'problem';
  readonly message: string;
  /** What to do. */
  readonly advice?: string;
}

const megabyte = 1024 ** 2;

/** The log of SQLite, temporary files, and a reserve. */
const freeBytesMin = 200 * megabyte;

/** One-time passwords and the order of queries from several machines depend on a right clock. */
const clockDifferenceMsMax = 10 * secondMs;

/** With less data on the fullest server of a cluster, or a smaller multiple of what another has, sharing out gains little. */
const skewedBytesMin = 10_240 * megabyte;
const skewedRatio = 3;

/** With fewer projects on the fullest server of a cluster, another may have none by chance. */
const skewedFrom = 8;

/** Room for the log, and for the copy of the database that an upgrade makes. */
export function judgeDisk(folder: string, freeBytes: number, databaseBytes: number): Finding {
  const message = `${folder} has ${inMegabytes(freeBytes)} free; the database has ${inMegabytes(databaseBytes)}`;
  if (freeBytes < freeBytesMin) {
    const advice = `make room, or move the database: it needs at least ${inMegabytes(freeBytesMin)}`;
    return { check: 'disk', status: 'problem', message, advice };
  }
  if (freeBytes < freeBytesMin + databaseBytes) {
    const advice = 'make room before the next upgrade, which copies the database first';
    return { check: 'disk', status: 'warning', message, advice };
  }
  return { check: 'disk', status: 'ok', message };
}

/** Where the projects are. Those of one server all wait for it, so one without any is a waste. */
export function judgeCluster(servers: readonly ClusterServer[] | IncompleteCluster): Finding {
  if (servers === 'without functions') {
    const message =
      'functions that record lack what a cluster needs: queries that arrive while a shard is split can be lost';
    const advice = 'before you split one, as the owner of the tables, run: caller-stats migrate';
    return { check: 'cluster', status: 'problem', message, advice };
  }
  if (servers === 'without copies') {
    const message = "the coordinator's copies of projects are missing: look-ups of keys ask the workers";
    return { check: 'cluster', status: 'warning', message, advice: 'run: caller-stats migrate --distribute' };
  }
  const message = `projects by server: ${servers.map(describeServer).join(', ')}`;
  const counts = servers.map(({ projects }) => projects);
  const hasEmpty = Math.min(...counts) === 0 && Math.max(...counts) >= skewedFrom;
  const sizes = servers.flatMap(({ bytes }) => bytes ?? []);
  const fullest = Math.max(...sizes);
  const isUneven = fullest >= skewedBytesMin && fullest > skewedRatio * Math.min(...sizes);
  if (!hasEmpty && !isUneven) return { check: 'cluster', status: 'ok', message };
  const advice =
    'share them out: run citus_rebalance_start() in the database; what one project has stays on one server';
  return { check: 'cluster', status: 'warning', message, advice };
}

function describeServer({ name, projects, bytes }: ClusterServer): string {
  const size = bytes === null ? 'size unknown' : inMegabytes(bytes);
  return `${name} ${formatCount(projects)} (${size})`;
}

/** Compares the clock with another one. */
export function judgeClock(nowMs: number, otherMs: number, other: string): Finding {
  const difference = Math.round((nowMs - otherMs) / secondMs);
  const shown = `${formatCount(Math.abs(difference))} s ${difference < 0 ? 'behind' : 'ahead of'} ${other}`;
  return Math.abs(nowMs - otherMs) > clockDifferenceMsMax
    ? { check: 'clock', status: 'problem', message: `is ${shown}`, advice: 'synchronize both with NTP' }
    : { check: 'clock', status: 'ok', message: `agrees with ${other}` };
}

/** When Node's project ends its security updates. Odd versions, and those before, have none. */
const NODE_ENDS: Readonly<Record<string, string>> = { 22: '2027-04-30', 24: '2028-04-30', 26: '2029-04-30' };

/** A warning if the version of Node gets no security updates any more; undefined otherwise. */
export function judgeNode(version: string, nowMs: number): Finding | undefined {
  const [major = ''] = version.split('.');
  const end = NODE_ENDS[major];
  const isUnknown = Number(major) > 26;
  if (isUnknown || (end !== undefined && nowMs < Date.parse(end))) return undefined;
  const message = `version ${version} gets no security updates any more`;
  return {
    check: 'Node',
    status: 'warning',
    message,
    advice: 'install Node 24, or use the executable, which has its own',
  };
}

/** Whether users other than the owner have a permission on a file with this mode. Windows has no such modes. */
export function isOpenToOthers(mode: number, platform: NodeJS.Platform): boolean {
  return platform !== 'win32' && (mode & 0o077) !== 0;
}

function inMegabytes(bytes: number): string {
  return `${formatCount(Math.ceil(bytes / megabyte))} MB`;
}
