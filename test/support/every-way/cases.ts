/** The table of questions that every way of reading answers alike, and those that every way refuses. */
import { COMPARISONS, PERIODS } from '../../../src/domain/calendar/names.js';
import type { ReportParameter } from '../../../src/domain/counting/report-request.js';
import { WEEK_STARTS } from '../../../src/domain/time/calendar.js';

export const nowMs = Date.now();

/** A zone in which no day begins while this runs. */
export const zone =
  ['Europe/Berlin', 'America/Los_Angeles', 'Pacific/Auckland'].find((timeZone) => {
    const hour = new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }).format(nowMs);
    return Number(hour) > 0 && Number(hour) < 22;
  }) ?? 'UTC';

export type Input = { readonly [Name in ReportParameter]?: string };

export const REPORTS = {
  totals: { path: 'caller-stats', tool: 'get_caller_stats', options: [] as string[] },
  series: { path: 'caller-stats/series', tool: 'get_caller_stats_series', options: [] as string[] },
  callers: { path: 'callers', tool: 'get_callers', options: ['--callers'] },
} as const;

export type ReportName = keyof typeof REPORTS;

/** Times within the hours that the clocks of Berlin skip and repeat, which a case below has as its bounds. */
export const nearClockChanges = ['2025-03-30T01:00Z', '2025-10-26T00:00Z'].flatMap((hour) =>
  Array.from({ length: 12 }, (_, at) => Date.parse(hour) + (at - 3) * 10 * 60_000),
);

const LONG = /90-days|quarter|year|12-months/;

export const CASES: readonly (readonly [ReportName, Input])[] = [
  ['totals', {}],
  ['totals', { from: '2025-01-01', to: '2025-02-01', timeZone: 'Europe/Berlin' }],
  ['totals', { from: '2025-03-30T02:30', to: '2025-10-26T02:30:00', timeZone: 'Europe/Berlin' }],
  ['totals', { from: '2025-03-01T00:00+05:30', timeZone: 'America/Los_Angeles' }],
  ['totals', { period: 'last-month', timeZone: zone }],
  ['totals', { period: 'all', caller: 'slack' }],
  ['totals', { period: 'this-year', timeZone: zone, compare: 'previous-year' }],
  ['totals', { period: 'last-90-days', timeZone: zone, compare: 'previous', caller: 'web' }],
  [
    'totals',
    {
      from: '2025-02-01',
      to: '2025-03-01',
      timeZone: 'Asia/Kathmandu',
      compare: 'previous',
      caller: 'nobody',
    },
  ],
  ['callers', {}],
  ['callers', { period: 'last-quarter', timeZone: zone }],
  ['callers', { period: 'last-12-months', timeZone: zone, compare: 'previous' }],
  ['series', { interval: 'quarter', timeZone: 'Europe/Berlin' }],
  ['series', { interval: 'year', period: 'all', timeZone: zone }],
  ['series', { interval: 'day', from: '2025-03-01', to: '2025-04-01', timeZone: 'Europe/Berlin' }],
  ['series', { interval: 'week', period: 'last-90-days', timeZone: zone, caller: 'sdk-python' }],
  ['series', { interval: 'month', period: 'last-12-months', timeZone: zone, by: 'caller' }],
  [
    'series',
    { interval: 'month', period: 'last-12-months', timeZone: zone, by: 'caller', compare: 'previous-year' },
  ],
  ['series', { interval: 'year', by: 'caller' }],
  // As people choose them: names, of ranges that are not over as well.
  ...PERIODS.filter((period) => period !== 'all').map((period, at): readonly [ReportName, Input] => [
    (['totals', 'series', 'series', 'callers'] as const)[at % 4] ?? 'totals',
    {
      period,
      timeZone: zone,
      compare: COMPARISONS[at % COMPARISONS.length] ?? '',
      ...(at % 4 === 1 || at % 4 === 2 ? { interval: LONG.test(period) ? 'week' : 'day' } : {}),
      weekStart: WEEK_STARTS[at % WEEK_STARTS.length] ?? '',
    },
  ]),
  ['series', { period: 'this-week', timeZone: zone, interval: 'hour', compare: 'previous' }],
  ['series', { period: '12-months-to-date', timeZone: zone, interval: 'month', compare: 'previous-year' }],
];

export const REFUSED: readonly (readonly [ReportName, Input])[] = [
  ['totals', { period: 'last-fortnight' }],
  ['totals', { period: 'today', from: '2025-01-01', timeZone: 'Berlin' }],
  ['totals', { compare: 'previous' }],
  ['totals', { compare: 'before', caller: 'Slack' }],
  ['callers', { to: '2025-02-30', timeZone: '', weekStart: 'friday' }],
  ['series', { interval: 'decade', by: 'type' }],
  ['series', { interval: 'month', by: 'caller', caller: 'web' }],
];
