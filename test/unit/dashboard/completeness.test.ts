import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findIncomplete } from '../../../dashboard/src/time/completeness.js';
import { INTERVALS } from '../../../dashboard/src/time/interval.js';
import { findBucketEdges } from '../../../src/domain/counting/interval.js';
import type { TimeZone } from '../../../src/domain/time/time-zone.js';

const zone = fc.constantFrom(
  ...(['UTC', 'Europe/Berlin', 'America/Havana', 'Asia/Kathmandu', 'Australia/Lord_Howe'] as TimeZone[]),
);
const minute = fc.integer({ min: Date.UTC(2015, 0, 1) / 60_000, max: Date.UTC(2030, 0, 1) / 60_000 });

test('of the buckets of a range, only those are incomplete that the range cuts, or that contain the current time', () => {
  fc.assert(
    fc.property(
      zone,
      fc.constantFrom(...INTERVALS),
      minute,
      minute,
      fc.nat(),
      (timeZone, interval, start, length, any) => {
        const from = start * 60_000;
        const minutesMax = interval === 'quarter' || interval === 'year' ? 2_500_000 : 50_000;
        const range = { from, to: from + (length % minutesMax) * 60_000 };
        const edges = findBucketEdges(range, interval, { timeZone, weekStart: 'monday' }, 10_000) ?? [];
        const buckets = edges
          .slice(1)
          .map(({ timeMs }, at) => ({ from: edges[at]?.timeMs ?? 0, to: timeMs }));
        for (const bucket of buckets.slice(1, -1))
          expect(findIncomplete(bucket, interval, timeZone, 0)).toBeUndefined();
        const running = buckets[any % Math.max(1, buckets.length)];
        if (running !== undefined)
          expect(
            buckets.map((one) => findIncomplete(one, interval, timeZone, running.to - 1) === 'running'),
          ).toEqual(buckets.map((one) => one === running));
      },
    ),
  );
});

test.each([
  ['hour', '2026-06-01T10:00Z', '2026-06-01T11:00Z', undefined],
  ['hour', '2026-06-01T10:00Z', '2026-06-01T10:59Z', 'partial'],
  ['day', '2026-06-01T00:00Z', '2026-06-02T00:00Z', undefined],
  ['day', '2026-06-01T00:01Z', '2026-06-02T00:00Z', 'partial'],
  ['week', '2026-06-01T00:00Z', '2026-06-08T00:00Z', undefined],
  ['week', '2026-06-02T00:00Z', '2026-06-08T00:00Z', 'partial'],
  ['month', '2026-06-01T00:00Z', '2026-07-01T00:00Z', undefined],
  ['month', '2026-06-01T00:00Z', '2026-06-30T00:00Z', 'partial'],
  ['month', '2026-07-01T00:00Z', '2026-07-20T00:00Z', 'running'],
  ['quarter', '2026-04-01T00:00Z', '2026-07-01T00:00Z', undefined],
  ['quarter', '2026-05-01T00:00Z', '2026-07-01T00:00Z', 'partial'],
  ['quarter', '2026-04-01T00:00Z', '2026-06-01T00:00Z', 'partial'],
  ['quarter', '2026-07-01T00:00Z', '2026-10-01T00:00Z', 'running'],
  ['year', '2025-01-01T00:00Z', '2026-01-01T00:00Z', undefined],
  ['year', '2025-04-01T00:00Z', '2026-01-01T00:00Z', 'partial'],
  ['year', '2025-01-01T00:00Z', '2025-12-01T00:00Z', 'partial'],
  ['year', '2026-01-01T00:00Z', '2027-01-01T00:00Z', 'running'],
] as const)('%s from %s to %s: %s', (interval, from, to, expected) => {
  const bounds = { from: Date.parse(from), to: Date.parse(to) };
  expect(findIncomplete(bounds, interval, 'UTC', Date.parse('2026-07-19T12:00Z'))).toBe(expected);
});
