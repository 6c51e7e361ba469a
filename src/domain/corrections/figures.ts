/** What a correction changes, in figures. */

import { finish } from '../../shared/steps.js';
import { type CallerCounts, type Counts, sumByType, toCallerCounts } from '../counting/counts.js';
import { correctionCallersMax } from '../limits.js';
import { callerType } from '../queries/caller.js';

/**
 * The queries that a correction changes, by the caller for which they counted before it, or if they did not count, count after it.
 */
export interface Figures {
  /** At most `correctionCallersMax`, whichever came first. */
  readonly callers: Readonly<Record<string, number>>;
  /** Of all other callers together. */
  readonly rest: number;
  /** When the first and the last of them occurred; null if there are none. */
  readonly first: number | null;
  readonly last: number | null;
}

export const NO_FIGURES: Figures = { callers: {}, rest: 0, first: null, last: null };

/** Queries of one caller and time. */
export interface Affected {
  readonly caller: string;
  readonly occurredAt: number;
  readonly queries: number;
}

export function addToFigures(figures: Figures, affected: readonly Affected[]): Figures {
  const callers = new Map(Object.entries(figures.callers));
  let { rest, first, last } = figures;
  for (const { caller, occurredAt, queries } of affected) {
    const before = callers.get(caller);
    // The types `web` and `api` have a single caller each, so that the rest is of type other.
    if (before !== undefined || callers.size < correctionCallersMax || callerType(caller) !== 'other')
      callers.set(caller, (before ?? 0) + queries);
    else rest += queries;
    first = Math.min(first ?? occurredAt, occurredAt);
    last = Math.max(last ?? occurredAt, occurredAt);
  }
  return { callers: Object.fromEntries(callers), rest, first, last };
}

/** The figures of two parts of a correction together. */
export function mergeFigures(one: Figures, other: Figures): Figures {
  const { first, last, rest, callers } = other;
  if (first === null || last === null) return one;
  const affected = Object.entries(callers).map(([caller, queries]) => ({
    caller,
    queries,
    occurredAt: first,
  }));
  const sum = addToFigures(one, affected);
  return {
    ...{ callers: sum.callers, rest: sum.rest + rest },
    ...{ first: Math.min(sum.first ?? first, first), last: Math.max(sum.last ?? last, last) },
  };
}

/** The figures by type and by caller, which add up to the same total but for the rest. */
export function countFigures({ callers, rest }: Figures): Counts & Pick<CallerCounts, 'callers'> {
  const counted = finish(toCallerCounts(Object.entries(callers))).callers;
  const others = rest === 0 ? [] : [{ caller: '', type: 'other' as const, count: rest }];
  return { ...sumByType([...counted, ...others]), callers: counted };
}
