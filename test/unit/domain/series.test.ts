import { describe, expect, test } from 'vitest';
import {
  parseSeriesRequest,
  SERIES_PARAMETER_NAMES,
  toBuckets,
} from '../../../src/domain/counting/series.js';

const all = 'hour, day, week, month';

describe('a request for a series is refused', () => {
  test.each([
    [{ interval: '' }, `interval: is empty; leave it out or give one of ${all}`],
    [{ interval: 'year' }, `interval: "year" is not an interval; the intervals are ${all}`],
    [{ interval: 'Day' }, `interval: "Day" is not an interval; the intervals are ${all}`],
    [{ timeZone: '' }, expect.stringMatching(/^timeZone: is empty/)],
    [{ timeZone: 'europe/berlin' }, expect.stringMatching(/^timeZone: .*did you mean Europe\/Berlin\?$/)],
    [{ from: '2026-02-30' }, expect.stringMatching(/^dateFrom: /)],
  ])('%j', (parameters, problem) => {
    expect(parseSeriesRequest(parameters)).toEqual({ ok: false, problems: [problem] });
  });

  test('with all of its problems, under the given parameter names', () => {
    const names = { from: '--from', to: '--to', interval: '--interval', timeZone: '--time-zone' };
    const asked = { from: 'x', to: 'x', interval: 'x', timeZone: 'x' };
    expect(parseSeriesRequest(asked, names)).toEqual({
      ok: false,
      problems: Object.values(names).map((name) => expect.stringMatching(new RegExp(`^${name}: `))),
    });
  });
});

test('a request for a series defaults to days in UTC', () => {
  expect(parseSeriesRequest({})).toMatchObject({ ok: true, value: { interval: 'day', timeZone: 'UTC' } });
  const asked = {
    from: '2026-01-01',
    to: '2026-01-02',
    interval: 'hour',
    timeZone: 'Asia/Kolkata',
  };
  expect(parseSeriesRequest(asked)).toEqual({
    ok: true,
    value: {
      range: { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 0, 2) },
      interval: 'hour',
      timeZone: 'Asia/Kolkata',
    },
  });
});

test('the parameters of a series over HTTP have the documented names', () => {
  expect(SERIES_PARAMETER_NAMES).toEqual({
    from: 'dateFrom',
    to: 'dateTo',
    interval: 'interval',
    timeZone: 'timeZone',
  });
});

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
  expect(toBuckets(edges, counts)).toEqual([
    { start: '2026-03-29T01:00:00.000+01:00', end: '2026-03-29T03:00:00.000+02:00', ...counts[0] },
    { start: '2026-03-29T03:00:00.000+02:00', end: '2026-03-29T04:00:00.000+02:00', ...counts[1] },
  ]);
});
