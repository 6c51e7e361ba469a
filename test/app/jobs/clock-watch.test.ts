import { expect, test } from 'vitest';
import { ClockWatch } from '../../../src/app/jobs/clock-watch.js';
import { repeatStep } from '../../../src/app/jobs/job.js';
import { clockJumpMsMin, clockTrustedMs } from '../../../src/domain/limits.js';
import { dayMs, secondMs } from '../../../src/domain/time/duration.js';

function setUp() {
  const time = { nowMs: Date.UTC(2026, 10, 1), monotonicMs: 5 };
  const lines: string[] = [];
  const watch = new ClockWatch({
    clock: { now: () => time.nowMs },
    monotonicMs: () => time.monotonicMs,
    log: { warn: (_fields, message) => lines.push(message) },
  });
  const pass = (durationMs: number, jumpMs = 0) => {
    time.monotonicMs += durationMs;
    time.nowMs += durationMs + jumpMs;
  };
  return { watch, lines, pass };
}

test.each([3650 * dayMs, -3650 * dayMs, clockJumpMsMin])(
  'a clock that jumps by %d ms is not right until it is back, and says so once',
  (jumpMs) => {
    const { watch, lines, pass } = setUp();
    expect(watch.isRight()).toBe(true);
    pass(secondMs, jumpMs);
    for (const _ of [1, 2]) expect(watch.isRight()).toBe(false);
    pass(40 * secondMs, -jumpMs);
    for (const _ of [1, 2]) expect(watch.isRight()).toBe(true);
    expect(lines).toEqual([expect.stringMatching(/^the clock jumped/), expect.stringMatching(/right again/)]);
  },
);

test('a clock that keeps its new time is right after an hour, counted from its last jump', () => {
  const { watch, lines, pass } = setUp();
  pass(0, dayMs);
  expect(watch.isRight()).toBe(false);
  pass(clockTrustedMs - 1, dayMs);
  expect(watch.isRight()).toBe(false);
  pass(clockTrustedMs - 1);
  expect(watch.isRight()).toBe(false);
  pass(1);
  for (const _ of [1, 2]) expect(watch.isRight()).toBe(true);
  expect(lines.at(-1)).toMatch(/kept its new time/);
});

test('a clock that is corrected slowly is right', () => {
  const { watch, lines, pass } = setUp();
  for (let at = 0; at < 20; at++) {
    pass(secondMs, clockJumpMsMin - 1);
    expect(watch.isRight()).toBe(true);
  }
  expect(lines).toEqual([]);
});

test('jobs wait while the clock is not right', async () => {
  const { watch, pass } = setUp();
  const stop = new AbortController();
  const jumps = [0, dayMs, 0, -dayMs, 0];
  const steps: number[] = [];
  await repeatStep(
    async () => void steps.push(jumps.length),
    { everyMs: 1, failure: '' },
    {
      signal: stop.signal,
      log: { info: () => {}, warn: () => {} },
      clockWatch: watch,
      pause: async () => {
        const jumpMs = jumps.shift();
        if (jumpMs === undefined) stop.abort();
        else pass(1, jumpMs);
      },
    },
  );
  // Not after the jump, until the clock is back.
  expect(steps).toEqual([5, 4, 1, 0]);
});
