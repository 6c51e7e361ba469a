/** The simulation finds bugs: each planted one within 10,000 schedules. The quick run plants one in each part. */
import { expect, test } from 'vitest';
import { hourMs } from '../../src/domain/time/duration.js';
import { isDeep, newSeed } from '../support/volume.js';
import { bundleProduct } from './bundle.js';
import { PLANTED_BUGS } from './planted-bugs.js';
import { runSchedule } from './schedule.js';

const schedulesMax = 10_000;
const firstSeed = newSeed('planted bugs');
const parts = [...new Set(PLANTED_BUGS.map(({ part }) => part))];
const tried = isDeep
  ? PLANTED_BUGS
  : PLANTED_BUGS.filter(({ part }, at) => PLANTED_BUGS.findIndex((bug) => bug.part === part) === at);

test('there are bugs for each part', () => {
  expect(parts).toEqual([
    'commit queue',
    'admission',
    'retries',
    'deadlines',
    'recorder',
    'spool',
    'corrections',
  ]);
});

test.each(tried.map((bug) => [bug.part, bug.what, bug] as const))(
  'the %s: it %s',
  async (_part, _what, bug) => {
    const startProduct = await bundleProduct([bug]);
    for (let schedules = 1; schedules <= schedulesMax; schedules++) {
      const { problem } = await runSchedule(startProduct, firstSeed + schedules);
      if (problem === undefined) continue;
      const [line] = problem.split('\n');
      process.stdout.write(`${bug.part} | ${bug.what} | ${schedules} | ${line}\n`);
      return;
    }
    expect.fail(`no schedule of ${schedulesMax} finds it`);
  },
  hourMs,
);

test('a bug cannot be planted if its text is no longer in the source', async () => {
  const [bug] = PLANTED_BUGS;
  if (bug === undefined) throw new Error('there are no bugs');
  const build = bundleProduct([{ ...bug, text: 'this text is nowhere' }]);
  await expect(build).rejects.toThrow(
    `${bug.file} contains this text 0 times, not once: this text is nowhere`,
  );
  const elsewhere = bundleProduct([{ ...bug, file: 'src/main.ts' }]);
  await expect(elsewhere).rejects.toThrow('src/main.ts is not part of the simulation');
});
