/** The database file and its folder are read-only: a server reports that and ends. Once they are writable, it works. */
import { chmod } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Fault, serverOf } from '../fault.js';

/** Root can write everything unless it drops its capabilities. */
const powerless = process.getuid?.() === 0 ? ['setpriv', '--inh-caps=-all', '--bounding-set=-all'] : [];

export const readOnly: Fault = {
  name: 'read-only',
  stores: ['sqlite'],
  run: async (round) => {
    const { world, draw, tally, queries } = round;
    await serverOf(world);
    const load = round.load();
    await load.acknowledged(queries);
    await load.finish();
    for (const node of [...world.nodes]) await world.stop(node);
    const folder = dirname(world.file);
    await chmod(world.file, 0o400);
    await chmod(folder, 0o500);
    try {
      const { status, stdout, stderr } = await world.run(['serve', '--port', '0', '--log-level', 'warn'], {
        by: powerless,
      });
      if (status !== 1 || stdout !== '' || !/read-only/.test(stderr))
        world.problems.push(`a read-only file: ${JSON.stringify({ status, stdout, stderr })}`);
      tally.note('a read-only file was refused at start');
    } finally {
      await chmod(folder, 0o700);
      await chmod(world.file, 0o600);
    }
    await world.join({ by: powerless });
    await world.check(draw);
    await world.verify();
  },
};
