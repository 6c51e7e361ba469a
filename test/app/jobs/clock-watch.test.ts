import { expect, test } from 'vitest';
import { ClockWatch } from '../../../src/app/jobs/clock-watch.js';
import { repeatStep } from '../../../src/app/jobs/job.js';
import { clockJumpMsMin, clockTrustedMs, clockUnseenMsMax } from '../../../src/domain/limits.js';
import { dayMs, secondMs } from '../../../src/domain/time/duration.js';

function setUp(sinceNewestMs = 0) {
  const time = { nowMs: Date.UTC(2026, 10, 1), monotonicMs: 5 };
  const lines: string[] = [];
  const watch = new ClockWatch({
    clock: { now: () => time.nowMs },
    monotonicMs: () => time.monotonicMs,
    log: { warn: (_fields, message) => lines.push(message) },
  });
  expect(watch.isRight()).toBe(false);
  watch.begin(Number.isNaN(sinceNewestMs) ? undefined : time.nowMs - sinceNewestMs);
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

test.each([3650 * dayMs, clockUnseenMsMax + 1])(
  'a clock that begins %d ms after the newest time in the database is right after an hour, or when it is back',
  (aheadMs) => {
    const kept = setUp(aheadMs);
    for (const _ of [1, 2]) expect(kept.watch.isRight()).toBe(false);
    kept.pass(clockTrustedMs - 1);
    expect(kept.watch.isRight()).toBe(false);
    kept.pass(1);
    for (const _ of [1, 2]) expect(kept.watch.isRight()).toBe(true);
    expect(kept.lines).toEqual([expect.stringMatching(/^the clock is far ahead/), expect.any(String)]);
    const corrected = setUp(aheadMs);
    expect(corrected.watch.isRight()).toBe(false);
    corrected.pass(40 * secondMs, 2 * dayMs - aheadMs);
    for (const _ of [1, 2]) expect(corrected.watch.isRight()).toBe(true);
    expect(corrected.lines.at(-1)).toMatch(/right again/);
    // Afterwards, small jumps are noticed again.
    corrected.pass(secondMs, clockJumpMsMin);
    expect(corrected.watch.isRight()).toBe(false);
  },
);

test.each([Number.NaN, 0, clockUnseenMsMax, -3650 * dayMs])(
  'a clock that begins %d ms after the newest time in the database is right',
  (aheadMs) => {
    const { watch, lines } = setUp(aheadMs);
    expect(watch.isRight()).toBe(true);
    expect(lines).toEqual([]);
  },
);

test('the right time is that before a jump and what has passed since, also until an hour after it', () => {
  const { watch, pass } = setUp();
  const startMs = watch.rightMs();
  pass(secondMs, 3650 * dayMs);
  expect(watch.rightMs()).toBe(startMs + secondMs);
  pass(clockTrustedMs - 1);
  expect(watch.rightMs()).toBe(startMs + secondMs + clockTrustedMs - 1);
  pass(1);
  expect(watch.rightMs()).toBe(startMs + secondMs + clockTrustedMs + 3650 * dayMs);
  const late = setUp(3650 * dayMs);
  expect(late.watch.rightMs()).toBe(startMs - 3650 * dayMs);
  const unknown = new ClockWatch({ clock: { now: () => 7 }, monotonicMs: () => 5, log: { warn: () => {} } });
  expect(unknown.rightMs()).toBe(0);
});

test('the right time has whole milliseconds, also if the monotonic clock has none', () => {
  const { watch, pass } = setUp();
  const startMs = watch.rightMs();
  pass(1.5, dayMs - 0.5);
  expect(watch.rightMs()).toBe(startMs + 1);
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
