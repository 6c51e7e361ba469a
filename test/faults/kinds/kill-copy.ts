/** Copies into another database are killed; the last one completes the target. */
import { rm } from 'node:fs/promises';
import type { Counts } from '../../../src/domain/counting/counts.js';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { PROJECTS } from '../blocks.js';
import { type Fault, killWithin, serverOf } from '../fault.js';

const killsMost = 2;
const withinMs = 1_500;

export const killCopy: Fault = {
  name: 'kill-copy',
  stores: ['sqlite', 'postgres'],
  run: async (round) => {
    const { world, draw, tally, queries } = round;
    await serverOf(world);
    const load = round.load();
    await load.acknowledged(queries);
    await load.finish();
    await world.check(draw);
    const target = `sqlite:${world.path('copy.db')}`;
    const args = ['copy', '--from', world.database, '--to', target];
    for (let kills = 0; kills < 1 + draw.below(killsMost); kills++) {
      const running = world.startCommand(args);
      await killWithin(round, running.pid, withinMs);
      const { signal } = await running.ended;
      tally.note(signal === null ? 'copy was done before it was killed' : 'copy killed');
    }
    await world.succeed(args);
    for (const [at, project] of PROJECTS.entries()) {
      const { stdout } = await world.succeed(['stats', project, '--json', '--database', target]);
      world.take({ kind: 'count', op: -1 - at, project, range: ALL_TIME });
      world.take({ kind: 'counted', op: -1 - at, counts: JSON.parse(stdout) as Counts });
    }
    await world.verify(target);
    for (const end of ['', '-wal', '-shm']) await rm(world.path(`copy.db${end}`), { force: true });
  },
};
