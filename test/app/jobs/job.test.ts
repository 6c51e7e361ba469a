/** Background jobs survive failures and do not fill the log with them. */
import { expect, test } from 'vitest';
import { repeatStep } from '../../../src/app/jobs/job.js';

/** Runs a job whose steps end as listed: with the error of this message, or well. Returns what is logged. */
async function runSteps(
  outcomes: readonly (string | undefined)[],
  isLogged?: (error: unknown) => boolean,
): Promise<unknown[]> {
  const lines: unknown[] = [];
  const stop = new AbortController();
  const left = [...outcomes];
  const step = async () => {
    const message = left.shift();
    if (message !== undefined) throw new Error(message);
  };
  await repeatStep(
    step,
    { everyMs: 1000, failure: 'it failed', ...(isLogged && { isLogged }) },
    {
      signal: stop.signal,
      log: { info: () => {}, warn: (fields, message) => lines.push([fields, message]) },
      pause: async (durationMs) => {
        expect(durationMs).toBe(1000);
        if (left.length === 0) stop.abort();
      },
    },
  );
  return lines;
}

const line = (message: string) => [{ err: new Error(message) }, 'it failed'];

test('a job goes on after a failure, and logs the first of equal errors', async () => {
  expect(await runSteps(['a', 'a', 'b', 'b', undefined, 'b'])).toEqual([line('a'), line('b'), line('b')]);
});

test('a job leaves errors to others that log them', async () => {
  expect(await runSteps(['a', 'b'], (error) => (error as Error).message !== 'a')).toEqual([line('b')]);
});

test('a job that is stopped during a step does not log why it failed', async () => {
  const stop = new AbortController();
  const lines: unknown[] = [];
  const step = async () => {
    stop.abort();
    throw new Error('stopped');
  };
  const log = { info: () => {}, warn: (fields: object) => lines.push(fields) };
  await repeatStep(step, { everyMs: 1, failure: 'it failed' }, { signal: stop.signal, log });
  expect(lines).toEqual([]);
});
