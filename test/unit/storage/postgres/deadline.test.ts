import { describe, expect, test } from 'vitest';
import { withDeadline } from '../../../../src/storage/postgres/database.js';

/** Longer than any test. */
const farMs = 1_000_000;

describe('work with a deadline', () => {
  test('is given up when it takes longer, and is told so', async () => {
    let seen: AbortSignal | undefined;
    const work = withDeadline(1, (signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    await expect(work).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database cannot be used now: it gave no answer within 1 ms.',
    });
    expect(seen?.aborted).toBe(true);
  });

  test('may fail after it was given up, and nobody hears of it', async () => {
    let fail = (_error: Error): void => {};
    const work = withDeadline(
      1,
      () =>
        new Promise((_resolve, reject) => {
          fail = reject;
        }),
    );
    await expect(work).rejects.toMatchObject({ code: 'unavailable' });
    fail(new Error('too late'));
    // An unhandled rejection would fail the run of this file.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('gives what it gave, without an end of its own', async () => {
    let seen: AbortSignal | undefined;
    const value = await withDeadline(farMs, async (signal) => {
      seen = signal;
      return 'done';
    });
    expect(value).toBe('done');
    expect(seen?.aborted).toBe(false);
  });

  test('fails as it failed, also where it fails before it waits for anything', async () => {
    await expect(withDeadline(farMs, () => Promise.reject(new TypeError('ours')))).rejects.toThrow(TypeError);
    const atOnce = (): Promise<never> => {
      throw new RangeError('ours');
    };
    await expect(withDeadline(farMs, atOnce)).rejects.toThrow(RangeError);
  });

  test('leaves no timer behind that would hold the process up', async () => {
    const before = process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    await withDeadline(farMs, async () => 'done');
    await withDeadline(farMs, () => Promise.reject(new Error('failed'))).catch(() => {});
    expect(process.getActiveResourcesInfo().filter((one) => one === 'Timeout')).toHaveLength(before);
  });
});
