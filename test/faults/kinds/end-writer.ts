/** The writer thread of a server is terminated at any moment. The server starts another. */
import { scheduler } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { kill } from '../../support/cli/process.js';
import { type Fault, serverWith, underLoad } from '../fault.js';

const preload = fileURLToPath(new URL('../preload/ended-threads.mjs', import.meta.url));
const times = 5;
const aMomentMs = 40;
const someAnswers = 10;

const endedTimes = (count: number) => new RegExp(`(the thread is ended\\n[^]*){${count}}`);

export const endWriter: Fault = {
  name: 'end-writer',
  stores: ['sqlite'],
  run: async (round) => {
    const { world, draw, tally } = round;
    await serverWith(world, { node: ['--import', preload] });
    await underLoad(round, async (load, node) => {
      for (let time = 1; time <= times; time++) {
        await load.until(() => load.inFlight > 0);
        await scheduler.wait(draw.below(aMomentMs));
        kill(node.pid, 'SIGUSR2');
        const outcome = await Promise.race([node.printed(endedTimes(time)), node.ended]);
        if (typeof outcome !== 'string') {
          // Terminating the thread within the native driver ends the process, which is like a kill.
          if (!outcome.stderr.includes('Napi::Error'))
            throw new Error(`it ended: ${JSON.stringify(outcome)}`);
          tally.note('ended with its writer thread, within the native driver');
          tally.kills++;
          await world.join();
          return;
        }
        tally.note('writer thread ended');
        await load.progress(someAnswers);
      }
    });
    await serverWith(world);
  },
};
