import { describe, expect, test } from 'vitest';
import { withDeadline } from '../../src/shared/deadline.js';
import { withDatabaseDeadline } from '../../src/storage/postgres/connection/database.js';

/** Longer than any test. */
const farMs = 1_000_000;
const late = new Error('too late');
const timeoutError = () => late;

describe('work with a deadline', () => {
  test('is rejected if it takes longer, and its signal is aborted', async () => {
    let seen: AbortSignal | undefined;
    const work = withDeadline(1, timeoutError, (signal) => {
      seen = signal;
      return new Promise(() => {});
    });
    await expect(work).rejects.toBe(late);
    expect(seen?.aborted).toBe(true);
  });

  test('may fail after its deadline without an unhandled rejection', async () => {
    let fail = (_error: Error): void => {};
    const work = withDeadline(
      1,
      timeoutError,
      () =>
        new Promise((_resolve, reject) => {
          fail = reject;
        }),
    );
    await expect(work).rejects.toBe(late);
    fail(new Error('failed'));
    // An unhandled rejection would fail the run of this file.
    await new Promise((resolve) => setImmediate(resolve));
  });

  test('returns its value, and its signal is not aborted', async () => {
    let seen: AbortSignal | undefined;
    const value = await withDeadline(farMs, timeoutError, async (signal) => {
      seen = signal;
      return 'done';
    });
    expect(value).toBe('done');
    expect(seen?.aborted).toBe(false);
  });

  test('fails with its own error, also if it throws before it waits', async () => {
    const rejecting = () => Promise.reject(new TypeError('ours'));
    await expect(withDeadline(farMs, timeoutError, rejecting)).rejects.toThrow(TypeError);
    const throwing = (): Promise<never> => {
      throw new RangeError('ours');
    };
    await expect(withDeadline(farMs, timeoutError, throwing)).rejects.toThrow(RangeError);
  });

  test('leaves no timer behind that would keep the process running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((one) => one === 'Timeout').length;
    const before = timers();
    await withDeadline(farMs, timeoutError, async () => 'done');
    await withDeadline(farMs, timeoutError, () => Promise.reject(new Error('failed'))).catch(() => {});
    expect(timers()).toBe(before);
  });

  test('is rejected as unavailable if it waits for a database', async () => {
    await expect(withDatabaseDeadline(1, () => new Promise(() => {}))).rejects.toMatchObject({
      code: 'unavailable',
      message: 'The database cannot be used now: it gave no answer within 1 ms.',
    });
  });
});
