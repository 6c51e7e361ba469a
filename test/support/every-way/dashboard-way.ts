/** The dashboard as a way of reading: what its own requests return for the view that asks a question. */
import { QueryClient } from '@tanstack/react-query';
import type { CountsRef } from '../../../dashboard/src/api/paths.js';
import { numbersQuery, trendsQuery } from '../../../dashboard/src/api/stats.js';
import { readView, type View, writeView } from '../../../dashboard/src/navigation/view.js';
import { addDays } from '../../../dashboard/src/time/calendar.js';
import { type Choice, isChoice } from '../../../dashboard/src/time/choice.js';
import { COMPARISONS, INTERVALS, PERIODS } from '../../../src/domain/calendar/names.js';
import { WEEK_STARTS } from '../../../src/domain/time/calendar.js';
import type { Input, ReportName } from './cases.js';

/** Answers a question like the overview, in the form of the API, or returns undefined if no view asks it. */
export async function readDashboard(
  ref: CountsRef,
  report: ReportName,
  input: Input,
): Promise<object | undefined> {
  const choice = choiceOf(input);
  if (choice === undefined) return undefined;
  const view = opened(input, choice);
  const client = new QueryClient();
  const { counts, callers, callersTotal, interval, buckets, previous } = await client.fetchQuery(
    numbersQuery(ref, view),
  );
  const compared = view.compare === null ? {} : { previous };
  switch (report) {
    case 'totals':
      return { ...counts, ...compared };
    case 'callers':
      return { total: callersTotal, callers, ...compared };
    case 'series': {
      const by = input.by === undefined ? {} : await client.fetchQuery(trendsQuery(ref, view, interval));
      const shown = buckets.map(({ incomplete: _, previous: before, ...bucket }) =>
        view.compare === null ? bucket : { ...bucket, previous: before },
      );
      return { ...by, interval, timeZone: view.zone, buckets: shown, ...compared };
    }
  }
}

/** The selection of the range, which includes the last day of dates; undefined for times that no field takes. */
function choiceOf({ from, to, period }: Input): Choice | undefined {
  const named = from === undefined && to === undefined ? (period ?? 'all') : period;
  const known = PERIODS.find((one) => one === named);
  if (known !== undefined) return { period: known };
  if (from === undefined || to === undefined) return undefined;
  const last = to.includes('T') ? to.slice(0, 16) : addDays(to, -1);
  const choice = { from: from.slice(0, 16), to: last };
  return isChoice(choice) ? choice : undefined;
}

/** The view that a link with the selection opens. */
function opened({ timeZone = 'UTC', weekStart, interval, compare, caller }: Input, choice: Choice): View {
  const view: View = {
    choice,
    zone: timeZone,
    weekStart: WEEK_STARTS.find((one) => one === weekStart) ?? 'monday',
    interval: INTERVALS.find((one) => one === interval) ?? null,
    compare: COMPARISONS.find((one) => one === compare) ?? null,
    caller: caller ?? null,
    table: false,
    week: false,
    hidden: [],
  };
  return readView(new URLSearchParams(writeView(view)), { timeZone: 'Asia/Tokyo' });
}
