/** Another process holds the lock on the database file for longer than a server waits for it. */
import { DatabaseSync } from '@photostructure/sqlite';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { type Fault, underLoad } from '../fault.js';

/** Refusals that are waited for: the load's senders meet the lock together, and each of their groups gives up once. */
const refusals = 4;
const readings = 10;

export const lockFile: Fault = {
  name: 'lock-file',
  stores: ['sqlite'],
  run: (round) =>
    underLoad(round, async (load, node) => {
      const { world, tally } = round;
      const other = new DatabaseSync(world.file, { timeout: 5_000 });
      try {
        other.exec('BEGIN IMMEDIATE');
        const failedBefore = load.failed;
        // Who reads does not wait for who writes.
        for (let asked = 0; asked < readings; asked++) {
          const counts = await world.count(
            node,
            { project: 'first', view: 'caller-stats', range: ALL_TIME },
            true,
          );
          if (counts === undefined)
            world.problems.push('a count was refused while the file was locked for writing');
        }
        await load.until(() => load.failed >= failedBefore + refusals);
        tally.note('recordings refused while the file was locked');
        other.exec('ROLLBACK');
      } finally {
        other.close();
      }
    }),
};
