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

/** Whether an hour, day, week or month of the zone begins at this time. */
function isEdge(at: number, interval: Interval, zone: string): boolean {
  const { day, time } = toLocal(at, zone);
  if (interval === 'hour') return time.endsWith(':00') || zoneOffset(at, zone) !== zoneOffset(at - 1, zone);
  if (startOfDay(day, zone) !== at) return false;
  if (interval === 'week') return new Date(dayToUtc(day)).getUTCDay() === 1;
  return interval === 'day' || day.endsWith('-01');
}
