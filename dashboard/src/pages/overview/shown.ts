/** What the overview requests for a view. */
import type { CountsRef, Shown } from '../../api/stats.js';
import type { View } from '../../navigation/view.js';
import { intervalFor } from '../../time/interval.js';
import { type Bounded, comparedRange, resolveRange } from '../../time/range.js';

/** The ends of ranges move in steps. */
export const stepMs = 60_000;

/** The counts of the selected range. */
export function shownAt(ref: CountsRef, view: View, now: number): Shown {
  const range = resolveRange(view.choice, view.zone, toStep(now));
  return {
    ...ref,
    range,
    zone: view.zone,
    caller: view.caller,
    interval: intervalFor(view.interval, range),
    automatic: view.interval === null,
  };
}

/** The range to compare with; null if there is none. */
export function comparedAt({ choice, zone, compare }: View, now: number): Bounded | null {
  return comparedRange(choice, zone, toStep(now), compare ?? 'previous');
}

function toStep(now: number): number {
  return Math.floor(now / stepMs) * stepMs;
}
