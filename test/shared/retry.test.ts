import { describe, expect, test } from 'vitest';
import { retryWhileUnavailable } from '../../src/app/retry.js';
import { CallerStatsError } from '../../src/domain/errors.js';
import { RequestError } from '../../src/shared/api-client.js';
import { retry } from '../../src/shared/retry.js';

const unavailable = new CallerStatsError('unavailable', 'The database cannot be reached.');

/** Work that fails with these errors first, and records each wait and note. */
function failing(errors: readonly Error[]) {
  const left = [...errors];
  const waits: number[] = [];
  const notes: string[] = [];
  const work = async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return 'done';
  };
  const wait = async (durationMs: number) => {
    waits.push(durationMs);
  };
  const note = (line: string) => notes.push(line);
  const run = () => retryWhileUnavailable(work, { note, sleep: wait });
  return { run, work, waits, notes };
}

describe('an unavailable store is', () => {
  test('given up after the last attempt', async () => {
    const { run, waits } = failing(Array(8).fill(unavailable));
    await expect(run()).rejects.toBe(unavailable);
    expect(waits).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000]);
  });

  test.each([
    ['invalid input', new CallerStatsError('invalid', 'No.')],
    ['a bug', new Error('No.')],
  ])('retried, but not after %s', async (_what, error) => {
    const { run, waits } = failing([unavailable, error]);
    await expect(run()).rejects.toBe(error);
    expect(waits).toEqual([250]);
  });

  test('retried with growing waits and a note for each', async () => {
    const { run, waits, notes } = failing([unavailable, unavailable]);
    expect(await run()).toBe('done');
    expect(waits).toEqual([250, 500]);
    expect(notes).toEqual([
      'The database cannot be reached. Trying again in 0.25 s.',
      'The database cannot be reached. Trying again in 0.5 s.',
    ]);
  });
});

test.each([
  [3000, 3000],
  [3_600_000, 30_000],
])('a server that asks to wait %d ms is asked again in %d ms', async (retryAfterMs, waitMs) => {
  const cause = new RequestError('Wait.', { status: 429, retryAfterMs });
  const { run, waits } = failing([
    new CallerStatsError('unavailable', 'The server answered 429.', { cause }),
  ]);
  expect(await run()).toBe('done');
  expect(waits).toEqual([waitMs]);
});

test('an aborted signal ends a wait at once, and no further attempt is made', async () => {
  const { work } = failing([unavailable]);
  const stop = new AbortController();
  const options = { isRetryable: () => true, delayMs: () => 1_000_000, onRetry: () => stop.abort() };
  await expect(retry(work, { ...options, signal: stop.signal })).rejects.toBe(unavailable);
});
