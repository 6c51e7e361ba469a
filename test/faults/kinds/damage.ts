/** A truncated database file, or one with a changed byte. Servers or `verify` must notice the damage. */
import { copyFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { type Fault, type Round, serverOf } from '../fault.js';
import { judge } from './damaged.js';
import { pageSize, pagesOf, withEveryKindOfPage } from './pages.js';

export const truncateFile: Fault = {
  name: 'truncate-file',
  stores: ['sqlite'],
  run: async (round) => {
    const { world, draw } = round;
    await quietFile(round);
    const bytes = (await readFile(world.file)).length;
    const lengths = [draw.below(bytes), draw.below(Math.floor(bytes / pageSize)) * pageSize];
    for (const length of lengths) {
      const copy = world.path('truncated.db');
      await copyFile(world.file, copy);
      await truncate(copy, Math.max(1, length));
      await judge(round, copy, 'truncated');
    }
    await serverOf(world);
    await world.check(draw);
  },
};

export const flipByte: Fault = {
  name: 'flip-byte',
  stores: ['sqlite'],
  run: async (round) => {
    const { world, draw } = round;
    await quietFile(round);
    const whole = world.path('whole.db');
    await copyFile(world.file, whole);
    withEveryKindOfPage(whole);
    const bytes = await readFile(whole);
    for (const [kind, pages] of pagesOf(whole)) {
      const copy = world.path('flipped.db');
      // The header of the file is the first 100 bytes of its first page.
      const at =
        kind === 'header' ? draw.below(100) : (draw.pick(pages) - 1) * pageSize + draw.below(pageSize);
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ (1 + draw.below(255));
      await writeFile(copy, damaged);
      await judge(round, copy, `byte flipped, ${kind}`);
    }
    await serverOf(world);
    await world.check(draw);
  },
};

/** Records some queries and stops all servers, so that the file is complete without its log. */
async function quietFile({ world, draw, queries, load: start }: Round): Promise<void> {
  await serverOf(world);
  const load = start();
  await load.acknowledged(queries);
  await load.finish();
  await world.check(draw);
  for (const node of [...world.nodes]) await world.stop(node);
}
