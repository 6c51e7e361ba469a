import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PacedQueue, RECORDING_PACE, REFUSAL_PACE } from '../../../src/http/admission/paced-queue.js';
import { createThrottledWarning } from '../../../src/shared/throttled-log.js';

const { count } = RECORDING_PACE;

/** The calls that pass in each turn of the event loop. */
async function runTurns(sizes: readonly number[]): Promise<number[][]> {
  const turns = new PacedQueue(RECORDING_PACE);
  const seen: number[][] = [[]];
  const all = sizes.map(async (bytes, number) => {
    await turns.next(bytes);
    seen.at(-1)?.push(number);
  });
  for (let left = sizes.length + 1; left > 0 && seen.flat().length < sizes.length; left--) {
    await setImmediate();
    seen.push([]);
  }
  await all;
  return seen.filter((turn) => turn.length > 0);
}

/** Makes this many calls; `passed` has the numbers of those that have passed. */
function enqueue(turns: PacedQueue, length: number) {
  const passed: number[] = [];
  const calls = Array.from({ length }, (_, number) => turns.next().then(() => passed.push(number)));
  return { passed, all: Promise.all(calls) };
}

test('all calls pass in order, in portions of limited count and size', async () => {
  const sizes = fc.array(fc.constantFrom(0, 10, 30_000, 70_000, 10_000_000), { maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(sizes, async (bytes) => {
      const turns = await runTurns(bytes);
      expect(turns.flat()).toEqual(bytes.map((_, number) => number));
      for (const turn of turns) {
        expect(turn.length).toBeLessThanOrEqual(count);
        const sum = turn.reduce((total, number) => total + (bytes[number] ?? 0), 0);
        if (turn.length > 1) expect(sum).toBeLessThanOrEqual(64 * 1024);
      }
    }),
  );
});

test('a portion has at most the maximum number of bytes', async () => {
  expect(await runTurns([32_768, 32_768, 1])).toEqual([[0, 1], [2]]);
});

test('with an interval, a portion passes only after the interval', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const turns = new PacedQueue(REFUSAL_PACE);
  const { passed, all } = enqueue(turns, 3);
  await vi.advanceTimersByTimeAsync(19);
  await setImmediate();
  expect(passed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(passed).toEqual([0, 1]);
  await vi.advanceTimersByTimeAsync(20);
  await all;
});

test('other work runs between two portions', async () => {
  const turns = new PacedQueue(RECORDING_PACE);
  const heard: string[] = [];
  const waiting = Array.from({ length: 3 * count }, () => turns.next().then(() => heard.push('recording')));
  const other = setImmediate().then(() => heard.push('other'));
  await Promise.all([...waiting, other]);
  expect(heard.indexOf('other')).toBe(count);
});

test('credit enlarges the next portion, and fractions add up', async () => {
  const turns = new PacedQueue(RECORDING_PACE);
  for (let times = 0; times < 6; times++) turns.credit(1 / 4);
  const { passed, all } = enqueue(turns, 3 * count);
  await setImmediate();
  expect(passed).toHaveLength(count + 1);
  turns.credit(1 / 2);
  await setImmediate();
  expect(passed).toHaveLength(2 * (count + 1));
  await all;
});

test('unused credit has a limit', async () => {
  const turns = new PacedQueue(RECORDING_PACE);
  turns.credit(1000);
  const { passed, all } = enqueue(turns, 100);
  await setImmediate();
  expect(passed).toHaveLength(count + 20);
  await all;
});

test('a throttled log writes one line in ten seconds with the number left out, also after the clock was set back', () => {
  let nowMs = 100_000;
  const written: unknown[] = [];
  const warnThrottled = createThrottledWarning({ now: () => nowMs });
  const warn = () => {
    const log = { warn: (fields: object, message: string) => written.push([fields, message]) };
    warnThrottled(log as unknown as Parameters<typeof warnThrottled>[0], { a: 1 }, 'too much');
  };
  for (let times = 0; times < 5; times++) warn();
  expect(written).toEqual([[{ a: 1, unwritten: 0 }, 'too much']]);
  nowMs += 10_000;
  warn();
  expect(written.at(-1)).toEqual([{ a: 1, unwritten: 4 }, 'too much']);
  nowMs = 0;
  warn();
  expect(written).toHaveLength(3);
});
