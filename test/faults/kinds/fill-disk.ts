/**
 * The disk is full. As root, this is a small file system in a separate mount namespace. Otherwise, the size of the server's
 * files is limited, which has nearly the same effect.
 */
import { copyFile, rm, statfs, writeFile } from 'node:fs/promises';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { kill, type Running } from '../../support/cli/process.js';
import { type Fault, type Round, serverWith, underLoad } from '../fault.js';
import type { Load } from '../load.js';
import type { Node, World } from '../world.js';

const refusals = 12;
/** More than twice the size of a log at a checkpoint. */
const diskMegabytes = 200;
/** The room left for the database and its log. */
const roomMegabytes = 3;
const fileBytesMax = 1024 * 1024;

export const fillDisk: Fault = {
  name: 'fill-disk',
  stores: ['sqlite'],
  run: async (round) => {
    const { world, tally } = round;
    const disk = await mountDisk(world);
    if (disk === undefined) {
      tally.note('disk full: not allowed here, only the bound on the size of files was tried');
      return boundFiles(round);
    }
    try {
      tally.note('disk full: a tmpfs of its own');
      await onSmallDisk(round, disk);
    } finally {
      kill(disk.holder.pid, 'SIGKILL');
      await disk.holder.ended;
    }
  },
};

export const boundFileSize: Fault = {
  name: 'bound-file-size',
  stores: ['sqlite'],
  run: (round) => boundFiles(round),
};

interface Disk {
  readonly holder: Running;
  /** Runs a command that sees the disk. */
  readonly by: readonly string[];
  /** The path of the disk for other processes. */
  readonly outside: string;
}

/** Mounts a small disk at the world's folder `disk`. Returns undefined if that is not allowed. */
async function mountDisk(world: World): Promise<Disk | undefined> {
  const folder = world.path('disk');
  const script = `mkdir -p '${folder}' && mount -t tmpfs -o size=${diskMegabytes}m tmpfs '${folder}' && echo mounted && exec tail -f /dev/null`;
  const holder = world.spawn('unshare', ['-m', 'sh', '-c', script]);
  try {
    await holder.printed(/^mounted\n/m);
  } catch {
    return undefined;
  }
  return {
    holder,
    by: ['nsenter', '-m', '-t', String(holder.pid)],
    outside: `/proc/${holder.pid}/root${folder}`,
  };
}

/** Moves the world's database to the disk, fills it, and moves the database back. */
async function onSmallDisk(round: Round, { by, outside }: Disk): Promise<void> {
  const { world } = round;
  for (const node of [...world.nodes]) await world.stop(node);
  const there = world.path('disk/caller-stats.db');
  await world.succeed(['backup', there, '--replace'], { by });
  const database = `sqlite:${there}`;
  await serverWith(world, { by, database });
  const ballast = `${outside}/ballast`;
  await underLoad(
    round,
    async (load, node) => {
      await fill(ballast, roomMegabytes);
      await untilRefused(round, load, node);
      await rm(ballast);
    },
    'endless',
  );
  await world.verify(database, { by });
  for (const node of [...world.nodes]) await world.stop(node);
  // The world's database must have what was recorded on the disk.
  const copy = world.path('from-disk');
  await copyFile(`${outside}/caller-stats.db`, copy);
  await world.succeed(['restore', copy, '--replace']);
  await world.join();
  await world.check(round.draw);
}

/** Fills the disk except for some megabytes. */
async function fill(file: string, leaveMegabytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(file.slice(0, file.lastIndexOf('/')));
  const bytes = bavail * bsize - leaveMegabytes * 1024 * 1024;
  try {
    await writeFile(file, Buffer.alloc(Math.max(0, bytes), 1));
  } catch (error) {
    // The load used more of the disk meanwhile, so it is already full.
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}

/** Limits the size of the server's files, then removes the limit. */
async function boundFiles(round: Round): Promise<void> {
  const { world } = round;
  await serverWith(world);
  await underLoad(
    round,
    async (load, node) => {
      const bound = (bytes: number | string) =>
        world.spawn('prlimit', ['--pid', String(node.pid), `--fsize=${bytes}:unlimited`]).ended;
      await bound(fileBytesMax);
      await untilRefused(round, load, node);
      await bound('unlimited');
    },
    'endless',
  );
}

/** Waits until recordings are refused. Counting must still work. */
async function untilRefused({ world, tally }: Round, load: Load, node: Node): Promise<void> {
  const refusedBefore = world.outcomes.get('recording 503') ?? 0;
  await load.until(() => (world.outcomes.get('recording 503') ?? 0) >= refusedBefore + refusals);
  const counts = await world.count(node, { project: 'first', view: 'caller-stats', range: ALL_TIME }, true);
  if (counts === undefined) world.problems.push('a count was refused while the disk was full');
  const ready = await fetch(`${node.url}/readyz`);
  const { status } = (await ready.json()) as { readonly status?: string };
  if (ready.status !== 200 || status !== 'read-only')
    world.problems.push(`/readyz is ${ready.status} ${status} while the disk is full`);
  tally.note('recordings refused for lack of room');
}
