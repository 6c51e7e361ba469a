/** The counts of a project. */
import { keepPreviousData } from '@tanstack/react-query';
import type { View } from '../navigation/view.js';
import { getQuery } from './client.js';
import {
  type CountsRef,
  changesPath,
  cutBoundsPath,
  type Explained,
  importsPath,
  numbersPath,
  type ProjectRef,
  trendsPath,
  weekHoursPath,
  wholePath,
} from './paths.js';
import { type Failing, recoverAfter } from './query-client.js';
import type { Changes, Counts, CutBounds, Imports, Interval, Numbers, Series, WeekHours } from './types.js';

/** While queries can still fall into the range. */
const openMs = 10_000;

/** While the project waits for its first query. */
const emptyMs = 3_000;

/** Periods move on at midnight. */
const periodMs = 60_000;

const trendsStaleMs = 60_000;

/** Everything that the overview shows of a range. */
export function numbersQuery(ref: CountsRef, view: View) {
  const refreshAfter = (
    query: Failing & { readonly state: { readonly data: Numbers | undefined } },
  ): number | false => {
    const { data } = query.state;
    if (data === undefined) return recoverAfter(query);
    if (data.recordingBegan === null) return emptyMs;
    if (data.isOpen) return openMs;
    return 'period' in view.choice ? periodMs : recoverAfter(query);
  };
  return {
    ...getQuery<Numbers>(numbersPath(ref, view)),
    placeholderData: keepPreviousData<Numbers>,
    refetchInterval: refreshAfter,
  };
}

/** The counts of all time. */
export function wholeQuery(ref: CountsRef) {
  return getQuery<Counts>(wholePath(ref));
}

/** The imported counts that the range and its buckets cut. They do not change while the page is open, or hardly ever. */
export function cutBoundsQuery(ref: CountsRef, view: View, interval: Interval | null) {
  return {
    ...getQuery<CutBounds>(cutBoundsPath(ref, view, interval)),
    placeholderData: keepPreviousData<CutBounds>,
  };
}

/** The imports that reach back. Others rarely import something while the overview is open. */
export function importsQuery(ref: ProjectRef) {
  return { ...getQuery<Imports>(importsPath(ref)), staleTime: trendsStaleMs };
}

/** The server reads all queries of the project for it. */
export function changesQuery(ref: CountsRef, explained: Explained) {
  return { ...getQuery<Changes>(changesPath(ref, explained)), refetchOnWindowFocus: false };
}

/** The counts of the busiest callers over time. They are less urgent than the rest, and refreshed less often. */
export function trendsQuery(ref: CountsRef, view: View, interval: Interval) {
  return {
    ...getQuery<Series>(trendsPath(ref, view, interval)),
    staleTime: trendsStaleMs,
    placeholderData: keepPreviousData<Series>,
  };
}

/** How the queries of a range are distributed over the hours of the week. */
export function weekHoursQuery(ref: CountsRef, view: View) {
  return {
    ...getQuery<WeekHours>(weekHoursPath(ref, view)),
    refetchInterval: (query: Failing) => recoverAfter(query) || periodMs,
  };
}
