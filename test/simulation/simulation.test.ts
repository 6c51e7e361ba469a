/**
 * Runs schedules of the simulation. `CALLER_STATS_TEST_SEED` sets the seed of the first one, and `CALLER_STATS_SCHEDULES` their
 * number: a schedule that fails prints both, and what happened in it.
 */
import { beforeAll, expect, test } from 'vitest';
import { hourMs } from '../../src/domain/time/duration.js';
import { isDeep, newSeed } from '../support/volume.js';
import { bundleProduct, type StartProduct } from './bundle.js';
import { runSchedule } from './schedule.js';

const schedules = Number(process.env['CALLER_STATS_SCHEDULES'] ?? (isDeep ? 100_000 : 150));
/** The end of what happened, which a failure prints. */
const linesPrinted = 60;

let startProduct: StartProduct;
beforeAll(async () => {
  startProduct = await bundleProduct();
});

test('the same seed gives the same events at the same times', async () => {
  const seed = newSeed('the same schedule twice');
  const first = await runSchedule(startProduct, seed, { traced: true });
  const second = await runSchedule(await bundleProduct(), seed, { traced: true });
  expect(first.trace.length).toBeGreaterThan(10);
  expect(second).toEqual(first);
  const other = await runSchedule(startProduct, seed + 1, { traced: true });
  expect(other.trace).not.toEqual(first.trace);
});

test(
  `in ${schedules} schedules each promised query is counted once`,
  async () => {
    const firstSeed = newSeed('schedules');
    const startMs = performance.now();
    let events = 0;
    let promises = 0;
    for (let seed = firstSeed; seed < firstSeed + schedules; seed++) {
      const run = await runSchedule(startProduct, seed);
      if (run.problem !== undefined) await explain(seed, run.problem);
      events += run.events;
      promises += run.promises;
    }
    // A simulation in which nothing happens proves nothing.
    expect(promises).toBeGreaterThan(5 * schedules);
    const seconds = ((performance.now() - startMs) / 1000).toFixed(0);
    process.stdout.write(`${schedules} schedules, ${events} events, ${promises} queries in ${seconds} s\n`);
  },
  6 * hourMs,
);

/** Runs the schedule again for its trace, and fails. */
async function explain(seed: number, problem: string): Promise<never> {
  const { trace } = await runSchedule(startProduct, seed, { traced: true });
  const repeat = `CALLER_STATS_TEST_SEED=${seed} CALLER_STATS_SCHEDULES=1 npx vitest run test/simulation`;
  throw new Error([problem, ...trace.slice(-linesPrinted), repeat].join('\n'));
}
