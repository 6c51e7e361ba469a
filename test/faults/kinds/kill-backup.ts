/** Backups under load, some of them killed: a backup is complete and consistent, or does not exist. */
import { existsSync, readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { PROJECTS, sizeOf, stretchOf } from '../blocks.js';
import { type Fault, killWithin, type Round, underLoad } from '../fault.js';
import { count } from '../requests.js';
import type { World } from '../world.js';

const killsMost = 3;
const withinMs = 900;

export const killBackup: Fault = {
  name: 'kill-backup',
  stores: ['sqlite'],
  run: (round) =>
    underLoad(round, async (load) => {
      const { world, draw, tally } = round;
      const backup = world.path('backup');
      const args = ['backup', backup, '--replace', '--json'];
      for (let kills = 0; kills < 1 + draw.below(killsMost); kills++) {
        const running = world.startCommand(args);
        await killWithin(round, running.pid, withinMs);
        const { signal } = await running.ended;
        tally.note(signal === null ? 'backup was done before it was killed' : 'backup killed');
        // An existing file is complete, whatever was killed.
        if (existsSync(backup) && draw.oneIn(2)) await restoreElsewhere(world, backup, async () => {});
      }
      const before = certainOf(world);
      await load.progress(1);
      await world.succeed(args);
      const after = knownOf(world);
      await restoreElsewhere(world, backup, async (url) => expectStateThatWas(round, url, before, after));
      await rm(backup);
      for (const left of readdirSync(world.folder).filter((name) => name.startsWith('.caller-stats-')))
        await rm(world.path(left), { recursive: true });
    }),
};

type Blocks = ReadonlyMap<string, readonly number[]>;

const certainOf = (world: World): Blocks => new Map(PROJECTS.map((one) => [one, world.checker.certain(one)]));
const knownOf = (world: World): Blocks =>
  new Map(PROJECTS.map((one) => [one, [...world.checker.certain(one), ...world.checker.uncertain(one)]]));

/** Restores a backup into a new folder, verifies it, and lets `look` ask its server. */
async function restoreElsewhere(
  world: World,
  backup: string,
  look: (url: string) => Promise<void>,
): Promise<void> {
  const folder = world.path('elsewhere');
  await mkdir(folder);
  const database = `sqlite:${folder}/restored.db`;
  await world.succeed(['restore', backup, '--database', database]);
  await world.succeed(['verify', '--database', database]);
  const node = await world.serve({ database });
  await look(node.url);
  await world.stop(node);
  await rm(folder, { recursive: true });
}

/**
 * Expects a backup to have everything that was acknowledged before it started, nothing sent after it ended and no
 * incomplete block; and with each block, all blocks that were acknowledged before that one was sent.
 */
async function expectStateThatWas(
  { world }: Round,
  url: string,
  before: Blocks,
  after: Blocks,
): Promise<void> {
  const key = world.keys.steady(0).value;
  for (const project of PROJECTS) {
    const must = new Set(before.get(project));
    const absent: number[] = [];
    let newestSentAt = 0;
    for (const block of after.get(project) ?? []) {
      const question = { project, view: 'caller-stats', range: stretchOf(block) } as const;
      const total = (await count(url, key, question)).body?.total;
      if (total === sizeOf(block))
        newestSentAt = Math.max(newestSentAt, world.checker.timesOf(project, block).sentAt);
      else if (total === 0 && !must.has(block)) absent.push(block);
      else
        world.problems.push(`backup: block ${block} of ${project} has ${total} of ${sizeOf(block)} queries`);
    }
    for (const block of absent) {
      if (world.checker.timesOf(project, block).countedAt < newestSentAt)
        world.problems.push(
          `backup: block ${block} of ${project} is missing, and what was sent later is there`,
        );
    }
  }
}
