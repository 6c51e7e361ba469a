import { describe, expect, test } from 'vitest';
import { whileAway } from '../../../src/app/retry.js';
import { CallerStatsError } from '../../../src/domain/errors.js';

const away = new CallerStatsError('unavailable', 'The database cannot be reached.');

/** Work that fails with these errors first; what was waited and said is noted. */
function failing(errors: readonly Error[]) {
  const left = [...errors];
  const waited: number[] = [];
  const said: string[] = [];
  const run = () =>
    whileAway(
      async () => {
        const error = left.shift();
        if (error !== undefined) throw error;
        return 'done';
      },
      {
        triesMax: 4,
        note: (line) => said.push(line),
        wait: async (durationMs) => {
          waited.push(durationMs);
        },
      },
    );
  return { run, waited, said };
}

describe('what is away is', () => {
  test('given up after so many tries', async () => {
    const { run, waited } = failing([away, away, away, away]);
    await expect(run()).rejects.toBe(away);
    expect(waited).toEqual([250, 500, 1000]);
  });

  test.each([
    ['a mistake', new CallerStatsError('invalid', 'No.')],
    ['an error of the program', new Error('No.')],
  ])('not waited for where it is %s', async (_what, error) => {
    const { run, waited } = failing([away, error]);
    await expect(run()).rejects.toBe(error);
    expect(waited).toEqual([250]);
  });

  test('waited for, longer each time, and said', async () => {
    const { run, waited, said } = failing([away, away]);
    expect(await run()).toBe('done');
    expect(waited).toEqual([250, 500]);
    expect(said).toEqual([
      'The database cannot be reached. Trying again in 0.25 s.',
      'The database cannot be reached. Trying again in 0.5 s.',
    ]);
  });
});
