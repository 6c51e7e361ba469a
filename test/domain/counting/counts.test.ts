/** Counts and their CSV, changes of projects, errors and quoting. */
import { describe, expect, test } from 'vitest';
import {
  addCounts,
  COUNT_FIELDS,
  firstCallers,
  mapTypes,
  toBucket,
  toCallerCounts,
  withTotal,
  zeroCounts,
} from '../../../src/domain/counting/counts.js';
import { callerStatsToCsv, callersToCsv, seriesToCsv } from '../../../src/domain/counting/csv.js';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { applyChange, type Project } from '../../../src/domain/projects/project.js';
import { CALLER_TYPES } from '../../../src/domain/queries/caller.js';
import { mapTelemetrySettings } from '../../../src/domain/queries/telemetry-settings.js';
import { quote } from '../../../src/domain/result.js';
import { UTC } from '../../../src/domain/time/time-zone.js';
import { finish } from '../../../src/shared/steps.js';

const counts = { web: 1, api: 2, other: 4, total: 7 };

describe('as CSV', () => {
  test('counts are a header and one line', () => {
    expect(callerStatsToCsv(counts)).toBe('web,api,other,total\r\n1,2,4,7\r\n');
  });

  test('a series has a line for each bucket, and always a header', () => {
    const [start, end] = ['2026-01-01T00:00:00.000+00:00', '2026-01-02T00:00:00.000+00:00'];
    const series = { interval: 'day', timeZone: UTC, buckets: [{ start, end, ...counts }] } as const;
    const header = 'start,end,web,api,other,total\r\n';
    expect(seriesToCsv(series)).toBe(`${header}${start},${end},1,2,4,7\r\n`);
    expect(seriesToCsv({ ...series, buckets: [] })).toBe(header);
  });

  test('each caller has a line', () => {
    const callers = finish(toCallerCounts([['slack', 3]]));
    expect(callersToCsv(callers)).toBe('caller,type,count\r\nslack,other,3\r\n');
  });

  test('a caller that a spreadsheet would run as a formula is a text there', () => {
    const callers = { total: 3, callers: [{ caller: '-2-3', type: 'other' as const, count: 3 }] };
    expect(callersToCsv(callers)).toBe("caller,type,count\r\n'-2-3,other,3\r\n");
  });
});

test('callers are sorted by count, then name, without those that have no queries', () => {
  const counted = [
    ['b', 1],
    ['web', 2],
    ['gone', 0],
    ['a', 1],
    ['api', 1],
  ] as const;
  expect(finish(toCallerCounts(counted))).toEqual({
    total: 5,
    callers: [
      { caller: 'web', type: 'web', count: 2 },
      { caller: 'a', type: 'other', count: 1 },
      { caller: 'api', type: 'api', count: 1 },
      { caller: 'b', type: 'other', count: 1 },
    ],
  });
  expect(finish(toCallerCounts([]))).toEqual({ total: 0, callers: [] });
});

test('addCounts adds type by type', () => {
  expect(addCounts([])).toEqual({ web: 0, api: 0, other: 0 });
  const counts = [
    { web: 1, api: 20, other: 300 },
    { web: 4, api: 50, other: 600 },
  ];
  expect(addCounts(counts)).toEqual({ web: 5, api: 70, other: 900 });
});

test('every function that spells out the caller types has all of them, in order', () => {
  const ones = mapTypes(() => 1);
  expect(Object.keys(ones)).toEqual([...CALLER_TYPES]);
  expect(Object.keys(withTotal(ones))).toEqual([...COUNT_FIELDS]);
  expect(withTotal(ones).total).toBe(CALLER_TYPES.length);
  expect(toBucket('a', 'b', withTotal(ones))).toEqual({ start: 'a', end: 'b', ...withTotal(ones) });
  expect(addCounts([ones, ones])).toEqual(mapTypes(() => 2));
  expect(zeroCounts()).toEqual(mapTypes(() => 0));
});

describe('a change of a project', () => {
  const project: Project = {
    id: 'docs',
    organizationId: 'default',
    name: 'Docs',
    createdAt: 0,
    timeZone: null,
    weekStart: null,
    retentionDays: 30,
    earliestAt: null,
    rowsFrom: null,
    ...mapTelemetrySettings(() => null),
  };

  test('without new values has no description', () => {
    expect(applyChange(project, {})).toEqual({ project, detail: '' });
    expect(applyChange(project, { name: 'Docs', timeZone: null, retentionDays: 30 })).toEqual({
      project,
      detail: '',
    });
  });

  test('describes the old and new value of each changed field', () => {
    const change = { name: 'Handbook', timeZone: 'UTC', retentionDays: null };
    expect(applyChange(project, change)).toEqual({
      project: { ...project, ...change },
      detail: 'name: Docs, now Handbook; time zone: none, now UTC; retention in days: 30, now none',
    });
    expect(applyChange(project, { retentionDays: 7 }).detail).toBe('retention in days: 30, now 7');
    const changed = { ...project, otlpId: 'trace', otlpSiteOrigins: 'none' };
    expect(applyChange(changed, { otlpId: null, otlpCaller: 'b', otlpDefaultCaller: 'web' })).toEqual({
      project: { ...changed, otlpId: null, otlpCaller: 'b', otlpDefaultCaller: 'web' },
      detail:
        "OpenTelemetry id: trace, now the server's; OpenTelemetry caller attribute: the server's, now b; " +
        "OpenTelemetry default caller: the server's, now web",
    });
  });
});

describe('an error', () => {
  test('has a code, a message, and optional details and cause', () => {
    const bare = new CallerStatsError('unavailable', 'Later.');
    expect(bare).toMatchObject({
      name: 'CallerStatsError',
      code: 'unavailable',
      message: 'Later.',
      details: [],
    });
    expect('cause' in bare).toBe(false);
    const full = new CallerStatsError('invalid', 'No.', { details: ['a'], cause: 5 });
    expect(full).toMatchObject({ code: 'invalid', details: ['a'], cause: 5 });
  });

  test('quotes input on one line, cut at 40 characters', () => {
    expect(quote('a\n"b"')).toBe('"a\\n\\"b\\""');
    expect(quote('x'.repeat(40))).toBe(`"${'x'.repeat(40)}"`);
    expect(quote('x'.repeat(41))).toBe(`"${'x'.repeat(40)}…"`);
  });
});

test('the first callers and the rest add up to all, and there is no rest of few callers', () => {
  const { callers, total } = finish(
    toCallerCounts(Array.from({ length: 9 }, (_, at) => [`c${at}`, at + 1] as const)),
  );
  expect(firstCallers(callers, 9)).toEqual({ callers });
  const { callers: first, rest } = firstCallers(callers, 2);
  expect(first.map(({ count }) => count)).toEqual([9, 8]);
  expect(rest).toEqual({ callers: 7, count: total - 17 });
});
