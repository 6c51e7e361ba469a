/** Finds buckets that are not complete, so that nobody takes them for a drop. */
import type { Interval } from '../api/types.js';
import { dayToUtc } from './calendar.js';
import type { Bounded } from './range.js';
import { startOfDay, toLocal, zoneOffset } from './zone.js';

/** `running`: the bucket contains the current time. `partial`: the range begins or ends within it. */
export type Incomplete = 'running' | 'partial';

/** Undefined for a complete bucket. */
export function findIncomplete(
  { from, to }: Bounded,
  interval: Interval,
  zone: string,
  now: number,
): Incomplete | undefined {
  if (from <= now && now < to) return 'running';
  return isEdge(from, interval, zone) && isEdge(to, interval, zone) ? undefined : 'partial';
}

/** The days on which months, quarters and years begin, without the year. */
const FIRST_DAYS = { month: /-01$/, quarter: /-(01|04|07|10)-01$/, year: /-01-01$/ } as const;

/** Whether an interval of the zone begins at this time. */
function isEdge(at: number, interval: Interval, zone: string): boolean {
  const { day, time } = toLocal(at, zone);
  if (interval === 'hour') return time.endsWith(':00') || zoneOffset(at, zone) !== zoneOffset(at - 1, zone);
  if (startOfDay(day, zone) !== at) return false;
  if (interval === 'week') return new Date(dayToUtc(day)).getUTCDay() === 1;
  return interval === 'day' || FIRST_DAYS[interval].test(day);
}
