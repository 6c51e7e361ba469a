/** When recording began, as far as the times of queries are likely. */
import { likelyTimeMsMin } from '../limits.js';
import type { Counts } from './counts.js';
import type { DateRange } from './date-range.js';

/**
 * The time of the first query; null without queries. One with a doubtful time, such as 1970, says nothing of when recording began, so the
 * next one is searched for by halves; null if all are doubtful.
 */
export async function findBeginning(
  extent: DateRange | undefined,
  count: (range: DateRange) => Promise<Counts>,
): Promise<number | null> {
  if (extent === undefined || extent.from >= likelyTimeMsMin) return extent?.from ?? null;
  const hasQueries = async (to: number) => (await count({ from: likelyTimeMsMin, to })).total > 0;
  let [without, within] = [likelyTimeMsMin, extent.to];
  if (within <= without || !(await hasQueries(within))) return null;
  while (within - without > 1) {
    const middle = Math.floor((without + within) / 2);
    if (await hasQueries(middle)) within = middle;
    else without = middle;
  }
  return without;
}
