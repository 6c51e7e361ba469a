/**
 * Properties of series on every kind of store, compared with a recount that asks the platform for the local time of each
 * query.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WEEK_HOURS } from '../../src/app/reading/reports.js';
import { INTERVALS, type Interval } from '../../src/domain/calendar/names.js';
import { type Counts, withTotal, zeroCounts } from '../../src/domain/counting/counts.js';
import { parseSeriesRequest, type SeriesRequest } from '../../src/domain/counting/report-request.js';
import type { Series } from '../../src/domain/counting/series.js';
import { CALLER_TYPES } from '../../src/domain/queries/caller.js';
import type { Query } from '../../src/domain/queries/query.js';
import { WEEK_STARTS } from '../../src/domain/time/calendar.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { readSeries } from '../../src/storage/series.js';
import { localHourOfWeek, localUnit, oddMoments } from '../support/local-calendar.js';
import { by, placeFactories, projectOf } from '../support/storage/store.js';
import { lawParameters, recount } from './events.js';

/** Queries near an unusual time of a zone, such as a clock change, and a range of hours up to months around it. */
const scenario = fc
  .record({
    odd: fc.constantFrom(...oddMoments),
    interval: fc.constantFrom(...INTERVALS),
    spreadMs: fc.constantFrom(dayMs / 12, 2 * dayMs, 20 * dayMs),
    moments: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { maxLength: 40 }),
    bounds: fc.tuple(
      fc.double({ min: -1, max: 1, noNaN: true }),
      fc.double({ min: -1, max: 1, noNaN: true }),
    ),
    given: fc.record({ from: fc.boolean(), to: fc.boolean() }),
  })
  .map(({ odd: [timeZone, , near], interval, spreadMs, moments, bounds, given }) => {
    const at = (place: number): number => Date.parse(near) + Math.floor(place * spreadMs);
    const queries = moments.map(
      (place, index): Query => ({
        id: `${index}`,
        caller: ['web', 'api', 'slack', 'sdk-python'][index % 4] ?? '',
        occurredAt: at(place),
      }),
    );
    const [from, to] = bounds.map(at).sort((a, b) => a - b);
    const iso = (timeMs = 0): string => new Date(timeMs).toISOString();
    const parameters = {
      interval,
      timeZone,
      ...(given.from ? { from: iso(from) } : {}),
      ...(given.to ? { to: iso(to) } : {}),
    };
    return { queries, parameters };
  });

function parseRequest(parameters: { readonly interval: Interval; readonly timeZone: string }): SeriesRequest {
  const request = parseSeriesRequest(parameters, { nowMs: 0 });
  if (!request.ok) throw new Error(request.problems.join());
  return request.value;
}

/** The counts of each hour, day, week or month in the range that has queries. */
function countByUnit(
  queries: readonly Query[],
  { range, interval, timeZone }: SeriesRequest,
): Map<string, Counts> {
  const units = new Map<string, Query[]>();
  for (const query of queries) {
    if (query.occurredAt < range.from || query.occurredAt >= range.to) continue;
    const unit = localUnit(query.occurredAt, interval, timeZone);
    units.set(unit, [...(units.get(unit) ?? []), query]);
  }
  return new Map([...units].map(([unit, ofUnit]) => [unit, recount(ofUnit, range)]));
}

function expectTiles(
  { buckets }: Series,
  { range }: SeriesRequest,
  given: { from?: string; to?: string },
): void {
  for (const [at, { start }] of buckets.slice(1).entries()) expect(buckets[at]?.end).toBe(start);
  for (const { start, end } of buckets) expect(Date.parse(start)).toBeLessThan(Date.parse(end));
  const [first, last] = [buckets[0]?.start, buckets.at(-1)?.end];
  if (given.from !== undefined && first !== undefined) expect(Date.parse(first)).toBe(range.from);
  if (given.to !== undefined && last !== undefined) expect(Date.parse(last)).toBe(range.to);
}

function addUp(counts: readonly Counts[]): Counts {
  const sum = zeroCounts();
  for (const one of counts) for (const type of CALLER_TYPES) sum[type] += one[type];
  return withTotal(sum);
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const law = lawParameters(kind);

  test('each query is in the bucket of its local hour, day, week or month; buckets are adjacent and add up', async () => {
    const store = await (await factory()).open();
    let projects = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ queries, parameters }) => {
        const project = `run-${projects++}`;
        await store.directory.createProject(projectOf(project), by);
        await store.counts.record(project, queries);
        const request = parseRequest(parameters);
        const series = await readSeries(store, project, request);
        expectTiles(series, request, parameters);
        const { interval, timeZone } = request;
        const nonEmpty = series.buckets.filter(({ total }) => total > 0);
        expect(
          new Map(
            nonEmpty.map(({ start, end: _, ...counts }) => [
              localUnit(Date.parse(start), interval, timeZone),
              counts,
            ]),
          ),
        ).toEqual(countByUnit(queries, request));
        expect(addUp(series.buckets)).toEqual(await store.counts.count(project, request.range));
        // No two buckets are the same hour, day, week or month.
        const units = series.buckets.map(({ start }) => localUnit(Date.parse(start), interval, timeZone));
        expect(new Set(units).size).toBe(units.length);
      }),
      { ...law, numRuns: Math.ceil(law.numRuns / 4) },
    );
  });

  test('each query is in the cell of its weekday and hour, and the cells add up to the range', async () => {
    const store = await (await factory()).open();
    const names = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
    let projects = 0;
    await fc.assert(
      fc.asyncProperty(
        scenario,
        fc.constantFrom(...WEEK_STARTS),
        async ({ queries, parameters: { interval: _, ...parameters } }, weekStart) => {
          const project = `week-${projects++}`;
          await store.directory.createProject(projectOf(project), by);
          await store.counts.record(project, queries);
          const request = WEEK_HOURS.parse({ ...parameters, weekStart }, { nowMs: 0 });
          if (!request.ok) throw new Error(request.problems.join());
          const { days } = await WEEK_HOURS.read(store, project, request.value);
          const first = names.indexOf(weekStart);
          expect(days.map(({ day }) => day)).toEqual(names.map((_name, at) => names[(first + at) % 7]));
          const cells = days.flatMap(({ day, hours }) =>
            hours.map(({ times, ...counts }, hour) => ({
              cell: `${names.indexOf(day)} ${hour}`,
              times,
              counts,
            })),
          );
          expect(cells).toHaveLength(7 * 24);
          const { range } = request.value;
          const counted = queries.filter(
            ({ occurredAt }) => occurredAt >= range.from && occurredAt < range.to,
          );
          for (const { cell, counts } of cells) {
            const ofCell = counted.filter(
              ({ occurredAt }) => localHourOfWeek(occurredAt, parameters.timeZone) === cell,
            );
            expect(counts, cell).toEqual(recount(ofCell, range));
          }
          expect(addUp(cells.map(({ counts }) => counts))).toEqual(await store.counts.count(project, range));
          const hourly = await readSeries(store, project, parseRequest({ ...parameters, interval: 'hour' }));
          const times = hourly.buckets.map(({ start }) =>
            localHourOfWeek(Date.parse(start), parameters.timeZone),
          );
          for (const one of cells) expect(one.times).toBe(times.filter((cell) => cell === one.cell).length);
        },
      ),
      { ...law, numRuns: Math.ceil(law.numRuns / 4) },
    );
  });
});
