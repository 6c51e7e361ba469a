/** The dashboard as a way of reading: what its own requests return for the view that asks a question. */

import { QueryClient } from '@tanstack/react-query';
import {
  type CountsRef,
  comparedCountsQuery,
  comparedSeriesQuery,
  readingQuery,
  trendsQuery,
} from '../../../dashboard/src/api/stats.js';
import { readView, type View, writeView } from '../../../dashboard/src/navigation/view.js';
import { addDays } from '../../../dashboard/src/time/calendar.js';
import { intervalFor } from '../../../dashboard/src/time/interval.js';
import {
  type Bounded,
  type Choice,
  comparedRange,
  isOpen,
  type Preset,
  resolveRange,
} from '../../../dashboard/src/time/range.js';
import { toLocal } from '../../../dashboard/src/time/zone.js';
import type { Bucket, Counts } from '../../../src/domain/counting/counts.js';
import { INTERVALS, type Period } from '../../../src/domain/counting/names.js';
import { findPeriod } from '../../../src/domain/counting/period.js';
import type { TimeZone } from '../../../src/domain/time/time-zone.js';
import { type Input, nowMs, type ReportName } from './cases.js';

export interface DashboardAnswer {
  /** In the form of the API. */
  readonly answer: object;
  /** What it compares with. */
  readonly compared: Bounded | null;
  /** Whether the range includes the current time. */
  readonly isOpen: boolean;
}

/** Answers a question like the overview, or returns undefined if no view asks it. */
export async function readDashboard(
  ref: CountsRef,
  report: ReportName,
  input: Input,
): Promise<DashboardAnswer | undefined> {
  const choice = choiceOf(input);
  if (choice === undefined) return undefined;
  const { zone, compare, caller, interval } = opened(input, choice);
  const range = resolveRange(choice, zone, nowMs);
  const compared = compare === null ? null : comparedRange(choice, zone, nowMs, compare);
  const shown = {
    ...ref,
    range,
    zone,
    caller,
    interval: intervalFor(interval, range),
    automatic: interval === null,
  };
  const client = new QueryClient();
  const reading = await client.fetchQuery(readingQuery(shown, false));
  const own = { totals: reading.counts, series: reading.series, callers: reading.callers }[report];
  const by = input.by === undefined ? {} : await client.fetchQuery(trendsQuery(shown, shown.interval));
  if (compared === null) return { answer: { ...own, ...by }, compared, isOpen: isOpen(range, nowMs) };
  const previous =
    report === 'series'
      ? sumOf((await client.fetchQuery(comparedSeriesQuery(shown, compared, shown.interval))).buckets)
      : await client.fetchQuery(comparedCountsQuery(ref, compared, caller));
  return { answer: { ...own, ...by, previous }, compared, isOpen: isOpen(range, nowMs) };
}

const PRESETS: Readonly<Record<string, Preset>> = {
  'last-month': 'last-month',
  'this-year': 'year',
  all: 'all',
};

/** The selection of the range; the last day of dates is included. */
function choiceOf({ from, to, period, timeZone = 'UTC' }: Input): Choice | undefined {
  const preset = PRESETS[period ?? (from === undefined && to === undefined ? 'all' : '')];
  if (preset !== undefined) return { preset };
  if (period !== undefined) {
    const range = findPeriod(
      period as Period,
      { timeZone: timeZone as TimeZone, weekStart: 'monday' },
      nowMs,
    );
    const [first, end] = [toLocal(range.from, timeZone).day, toLocal(range.to, timeZone).day];
    return { from: first, to: addDays(end, -1) };
  }
  if (from === undefined || to === undefined) return undefined;
  return from.includes('T')
    ? { from: from.slice(0, 16), to: to.slice(0, 16) }
    : { from, to: addDays(to, -1) };
}

/** The view that a link with the selection opens. */
function opened({ timeZone = 'UTC', interval, compare, caller }: Input, choice: Choice): View {
  const view: View = {
    choice,
    zone: timeZone,
    interval: INTERVALS.find((one) => one === interval) ?? null,
    compare: compare === 'previous' || compare === 'previous-year' ? compare : null,
    caller: caller ?? null,
    table: false,
    hidden: [],
  };
  return readView(new URLSearchParams(writeView(view)), 'Asia/Tokyo');
}

function sumOf(buckets: readonly Bucket[]): Counts {
  const sum = (field: 'web' | 'api' | 'other' | 'total') =>
    buckets.reduce((total, bucket) => total + bucket[field], 0);
  return { web: sum('web'), api: sum('api'), other: sum('other'), total: sum('total') };
}
