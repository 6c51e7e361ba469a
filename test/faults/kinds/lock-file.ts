/** Another process locks the database file for longer than a server waits. */
import { DatabaseSync } from '@photostructure/sqlite';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { type Fault, underLoad } from '../fault.js';

/** The refusals to wait for. */
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
        // Reading does not wait for the lock.
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
