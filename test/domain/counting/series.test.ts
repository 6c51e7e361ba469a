import { expect, test } from 'vitest';
import { toBuckets } from '../../../src/domain/counting/series.js';
import { finish } from '../../../src/shared/steps.js';

test('buckets are between neighboring edges, and each end has its own offset', () => {
  const change = Date.UTC(2026, 2, 29, 1);
  const edges = [
    { timeMs: change - 3_600_000, offsetMs: 3_600_000 },
    { timeMs: change, offsetMs: 7_200_000 },
    { timeMs: change + 3_600_000, offsetMs: 7_200_000 },
  ];
  const counts = [
    { web: 1, api: 2, other: 4, total: 7 },
    { web: 0, api: 0, other: 0, total: 0 },
  ];
  expect(finish(toBuckets(edges, counts))).toEqual([
    { start: '2026-03-29T01:00:00.000+01:00', end: '2026-03-29T03:00:00.000+02:00', ...counts[0] },
    { start: '2026-03-29T03:00:00.000+02:00', end: '2026-03-29T04:00:00.000+02:00', ...counts[1] },
  ]);
});
