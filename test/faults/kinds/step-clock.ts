/** The clock of a server jumps by milliseconds, hours and weeks while it records. */
import { fileURLToPath } from 'node:url';
import { hourMs } from '../../../src/domain/time/duration.js';
import { kill } from '../../support/cli/process.js';
import { type Fault, serverWith, underLoad } from '../fault.js';

const preload = fileURLToPath(new URL('../preload/shifted-clock.mjs', import.meta.url));
const shiftsMs = [1, -1, 500, -3, hourMs, -hourMs, 24 * hourMs, -48 * hourMs, 480 * hourMs, -480 * hourMs, 0];
const someAnswers = 8;

export const stepClock: Fault = {
  name: 'step-clock',
  stores: ['sqlite', 'postgres'],
  run: async (round) => {
    const { world, draw, tally } = round;
    const shifts = draw.shuffled(shiftsMs);
    await serverWith(world, {
      node: ['--import', preload],
      env: { FAULT_CLOCK_SHIFTS: shifts.join(',') },
    });
    await underLoad(round, async (load, node) => {
      for (const [at] of shifts.entries()) {
        kill(node.pid, 'SIGUSR2');
        await node.printed(new RegExp(`(the clock is off by \\S+ ms\\n[^]*){${at + 1}}`));
        tally.note('clock stepped');
        await load.progress(someAnswers);
      }
    });
    await serverWith(world);
  },
};
