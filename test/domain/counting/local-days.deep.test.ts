/** Local days in every zone of the platform and every year since offsets became regular, compared with the edges of a series. */
import { expect, test } from 'vitest';
import { findBucketEdges } from '../../../src/domain/calendar/interval.js';
import { parseCountsRequest } from '../../../src/domain/counting/report-request.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { fromLocal, type TimeZone } from '../../../src/domain/time/time-zone.js';

const years = { from: 1880, to: 2040 };

test('the local days of every zone and year tile, and are the buckets of a series', {
  timeout: 1_800_000,
}, () => {
  for (const name of Intl.supportedValuesOf('timeZone')) {
    const zone = name as TimeZone;
    const [first, end] = [Date.UTC(years.from, 0, 1), Date.UTC(years.to, 0, 1)];
    const starts: number[] = [];
    for (let day = first; day <= end; day += dayMs) {
      const start = fromLocal(day, zone);
      // A date that a zone skipped is an empty range.
      if (start !== starts.at(-1)) starts.push(start);
      else expect(starts.length, `${name}: ${new Date(day).toISOString()}`).toBeGreaterThan(0);
    }
    const range = { from: fromLocal(first, zone), to: fromLocal(end, zone) };
    const edges = findBucketEdges(range, 'day', { timeZone: zone, weekStart: 'monday' }, 100_000)?.map(
      ({ timeMs }) => timeMs,
    );
    expect(starts, name).toEqual(edges);
    for (let year = years.from; year < years.to; year++) {
      const input = { timeZone: name, from: `${year}-01-01`, to: `${year + 1}-01-01` };
      const asked = parseCountsRequest(input, { nowMs: 0 });
      const bounds = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)].map((one) => fromLocal(one, zone));
      expect(asked.ok && [asked.value.range.from, asked.value.range.to], `${name} ${year}`).toEqual(bounds);
    }
  }
});
