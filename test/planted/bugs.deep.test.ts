/** Plants one bug after the other, and expects the test that is named for it to fail. Prints the seconds until it does. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { minuteMs } from '../../src/domain/time/duration.js';
import { PLANTED } from '../support/setup/planted.js';
import { PLANTED_BUGS } from './bugs.js';

const run = promisify(execFile);

test.each(PLANTED_BUGS.map((bug) => [bug.what, bug] as const))(
  '%s: a test finds it',
  async (what, bug) => {
    const startMs = performance.now();
    const only = bug.only === undefined ? [] : ['-t', bug.only];
    const { CALLER_STATS_TEST_DEEP: _, ...env } = process.env;
    const found = run('npx', ['vitest', 'run', '--bail', '1', bug.test, ...only], {
      env: { ...env, NO_COLOR: '1', [PLANTED]: JSON.stringify([bug]) },
      timeout: 9 * minuteMs,
      maxBuffer: 1e9,
    });
    await expect(found).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/Tests {2}\d+ failed/),
    });
    process.stdout.write(`${((performance.now() - startMs) / 1000).toFixed(0)} s | ${bug.test} | ${what}\n`);
  },
  10 * minuteMs,
);
