/**
 * The laws of series, held against a recount that walks every query and asks the platform what a clock in the zone shows
 * at its time, on every kind of store.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Counts, withTotal } from '../../src/domain/counting/counts.js';
import { INTERVALS, type Interval } from '../../src/domain/counting/interval.js';
import { parseSeriesRequest, type Series, type SeriesRequest } from '../../src/domain/counting/series.js';
import type { Query } from '../../src/domain/queries/query.js';
import { readSeries } from '../../src/storage/series.js';
import { localUnit, oddMoments } from '../support/local-calendar.js';
import { by, placeFactories, projectOf } from '../support/store.js';
import { lawParametersOn, recount } from './events.js';

const dayMs = 86_400_000;

/** Queries around a moment at which something is odd, and a range there: of some hours, or of some months. */
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

function questionOf(parameters: { readonly interval: Interval; readonly timeZone: string }): SeriesRequest {
  const question = parseSeriesRequest(parameters);
  if (!question.ok) throw new Error(question.problems.join());
  return question.value;
}

/** What each hour, day, week or month of the range holds, by its name; those with nothing are not there. */
function byUnit(
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

function sumOf(counts: readonly Counts[]): Counts {
  const sum = { web: 0, api: 0, other: 0 };
  for (const one of counts) for (const type of ['web', 'api', 'other'] as const) sum[type] += one[type];
  return withTotal(sum);
}

describe.each(placeFactories)('%s', (kind, factory) => {
  const law = lawParametersOn(kind);

  test('each query is in the bucket of its own local hour, day, week or month; buckets tile and add up', async () => {
    const store = await (await factory()).open();
    let projects = 0;
    await fc.assert(
      fc.asyncProperty(scenario, async ({ queries, parameters }) => {
        const project = `run-${projects++}`;
        await store.createProject(projectOf(project), by);
        await store.record(project, queries);
        const question = questionOf(parameters);
        const series = await readSeries(store, project, question);
        expectTiles(series, question, parameters);
        const { interval, timeZone } = question;
        const nonEmpty = series.buckets.filter(({ total }) => total > 0);
        expect(
          new Map(
            nonEmpty.map(({ start, end: _, ...counts }) => [
              localUnit(Date.parse(start), interval, timeZone),
              counts,
            ]),
          ),
        ).toEqual(byUnit(queries, question));
        expect(sumOf(series.buckets)).toEqual(await store.count(project, question.range));
        // Clipped to one bucket each, neighbours are different hours, days, weeks or months.
        const units = series.buckets.map(({ start }) => localUnit(Date.parse(start), interval, timeZone));
        expect(new Set(units).size).toBe(units.length);
      }),
      { ...law, numRuns: Math.ceil(law.numRuns / 4) },
    );
  });
});
