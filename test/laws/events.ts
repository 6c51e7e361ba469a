/** Random queries and ranges near the edges of buckets, and the naive counts that results are compared with. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import type { CallerCounts } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { callerType } from '../../src/domain/queries/caller.js';
import type { Query } from '../../src/domain/queries/query.js';
import { YEAR_ZERO_MS } from '../../src/domain/time/date-time.js';
import type { Store } from '../../src/storage/ports/store.js';
import { recount } from '../support/storage/ledger.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';
import { lawRuns } from '../support/volume.js';

export { recount };

const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const inRange = (timeMs: number): number => Math.min(Math.max(timeMs, YEAR_ZERO_MS), latestMs);

/** The number of runs of a law on a kind of store. */
export const lawParameters = (kind: string) => ({
  numRuns: kind === 'sqlite' ? lawRuns : Math.ceil(lawRuns / 4),
});

/** Times around the edges of buckets of every width, before and after 1970; at any time; within a few milliseconds. */
const timeMs = fc.oneof(
  { weight: 4, arbitrary: edge(-40, 40) },
  { weight: 2, arbitrary: edge(-20_000, 20_000) },
  { weight: 2, arbitrary: fc.integer({ min: 1_767_225_600_000, max: 1_767_225_600_005 }) },
  { weight: 1, arbitrary: fc.integer({ min: YEAR_ZERO_MS, max: latestMs }) },
);

function edge(from: number, to: number) {
  return fc
    .tuple(
      fc.constantFrom(...BUCKET_WIDTHS_MS),
      fc.integer({ min: from, max: to }),
      fc.integer({ min: -1, max: 1 }),
    )
    .map(([width, number, beside]) => inRange(width * number + beside));
}

const id = fc.oneof(
  fc.nat(30).map((number) => `id ${number}`),
  fc.nat(10).map((number) => `0190a8b2-7c3e-7d4f-8a5b-${String(number).padStart(12, '0')}`),
  fc.nat(10).map((number) => `0190A8B2-7C3E-7D4F-8A5B-${String(number).padStart(12, '0')}`),
);

const caller = fc.constantFrom('web', 'api', 'slack', 'sdk-python', 'other');

/** Queries with few ids, so that many ids are repeated with another caller or time. */
export const queries = fc.array(fc.record({ id, caller, occurredAt: timeMs }), { maxLength: 60 });

/** Queries with unique ids, so that the order of their arrival does not matter. */
export const consistentQueries = fc.uniqueArray(fc.record({ id, caller, occurredAt: timeMs }), {
  selector: (query) => query.id,
  maxLength: 40,
});

/** Bounds of ranges for given queries: at and next to their times, and at other interesting times. */
export function timesAround(recorded: readonly Query[]) {
  const around = recorded.flatMap(({ occurredAt }) => [occurredAt - 1, occurredAt, occurredAt + 1]);
  return around.length === 0
    ? timeMs
    : fc.oneof(timeMs, fc.constantFrom(...around), fc.constantFrom(ALL_TIME.from, ALL_TIME.to));
}

export function rangesAround(recorded: readonly Query[]) {
  const time = timesAround(recorded);
  return fc.array(
    fc.tuple(time, time).map(([a, b]): DateRange => ({ from: Math.min(a, b), to: Math.max(a, b) })),
    { minLength: 1, maxLength: 5 },
  );
}

/** Splits a list into batches of the given sizes, which repeat. */
export function splitIntoBatches<T>(items: readonly T[], sizes: readonly number[]): T[][] {
  const batches: T[][] = [];
  for (let at = 0, turn = 0; at < items.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    batches.push(items.slice(at, at + size));
    at += size;
  }
  return batches;
}

export const batchSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });

/** The first query of each id. */
export function firstOfEachId(delivered: readonly Query[]): Query[] {
  return [...new Map(delivered.toReversed().map((query) => [query.id, query])).values()];
}

/** Counts the callers in a range one by one. */
export function recountCallers(recorded: readonly Query[], { from, to }: DateRange): CallerCounts {
  const within = recorded.filter(({ occurredAt }) => occurredAt >= from && occurredAt < to);
  const callers = [...new Set(within.map(({ caller: name }) => name))].map((name) => ({
    caller: name,
    type: callerType(name),
    count: within.filter((query) => query.caller === name).length,
  }));
  callers.sort((a, b) => b.count - a.count || (a.caller < b.caller ? -1 : 1));
  return { total: within.length, callers };
}

/** Expects counts, callers and series, of all queries and of each caller, to equal a recount of the queries. */
export async function expectCounted(
  store: Store,
  project: string,
  all: readonly Query[],
  ranges: readonly DateRange[],
  edges: readonly number[],
): Promise<void> {
  const names = [...new Set(['web', 'nobody', ...all.map(({ caller: name }) => name)])].slice(0, 5);
  const of = (name: string) => all.filter((query) => query.caller === name);
  for (const range of ranges) {
    expect(await store.counts.count(project, range)).toEqual(recount(all, range));
    expect(await store.counts.countCallers(project, range)).toEqual(recountCallers(all, range));
    for (const name of names)
      expect(await store.counts.count(project, range, name)).toEqual(recount(of(name), range));
  }
  const bounds = edges.toSorted((a, b) => a - b);
  const recountSeries = (queriesOf: readonly Query[]) =>
    bounds.slice(1).map((to, at) => recount(queriesOf, { from: bounds[at] ?? to, to }));
  expect(await store.counts.countSeries(project, bounds)).toEqual(recountSeries(all));
  const callers = names.map((name) => recountSeries(of(name)));
  expect(await store.counts.countSeriesByCaller(project, bounds, names)).toEqual({
    all: recountSeries(all),
    callers: callers.map((counts) => counts.map(({ total }) => total)),
  });
  for (const [at, name] of names.slice(0, 2).entries())
    expect(await store.counts.countSeries(project, bounds, name)).toEqual(callers[at]);
}

/** Two connections to one store, and a new project for each run of a law. */
export async function openTwo(factory: PlaceFactory) {
  const { open } = await factory();
  const handles: readonly [Store, Store] = [await open(), await open()];
  let projects = 0;
  const newProject = async (): Promise<string> => {
    const id = `run-${projects++}`;
    await handles[0].directory.createProject(projectOf(id), by);
    return id;
  };
  return { handles, newProject };
}
