/** Arbitrary events and ranges that lie where counting could go wrong, and the naive count they are held against. */
import fc from 'fast-check';
import { BUCKET_WIDTHS_MS } from '../../src/domain/counting/buckets.js';
import { type CallerCounts, type Counts, withTotal } from '../../src/domain/counting/counts.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { callerType } from '../../src/domain/queries/caller.js';
import type { Query } from '../../src/domain/queries/query.js';
import { YEAR_ZERO_MS } from '../../src/domain/time/date-time.js';
import { lawRuns } from '../support/volume.js';

const latestMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const inRange = (timeMs: number): number => Math.min(Math.max(timeMs, YEAR_ZERO_MS), latestMs);

/** Runs of each law on a kind of store, and the seed to repeat a failed one with. */
export function lawParametersOn(kind: string) {
  const seed = process.env['CALLER_STATS_LAW_SEED'];
  return {
    numRuns: kind === 'sqlite' ? lawRuns : Math.ceil(lawRuns / 4),
    ...(seed === undefined ? {} : { seed: Number(seed) }),
  };
}

/** On and around edges of buckets of every width, on both sides of 1970; anywhere; crowded into a few milliseconds. */
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

/** Queries whose ids are few, so that many come twice, each time saying something else. */
export const queries = fc.array(fc.record({ id, caller, occurredAt: timeMs }), { maxLength: 60 });

/** Queries of which each id always says the same, so that the order of their arrival cannot matter. */
export const consistentQueries = fc.uniqueArray(fc.record({ id, caller, occurredAt: timeMs }), {
  selector: (query) => query.id,
  maxLength: 40,
});

/** Moments to begin and end ranges at, for given queries: on them, beside them, and anywhere that is of interest. */
export function momentsAround(recorded: readonly Query[]) {
  const around = recorded.flatMap(({ occurredAt }) => [occurredAt - 1, occurredAt, occurredAt + 1]);
  return around.length === 0
    ? timeMs
    : fc.oneof(timeMs, fc.constantFrom(...around), fc.constantFrom(ALL_TIME.from, ALL_TIME.to));
}

export function rangesAround(recorded: readonly Query[]) {
  const moment = momentsAround(recorded);
  return fc.array(
    fc.tuple(moment, moment).map(([a, b]): DateRange => ({ from: Math.min(a, b), to: Math.max(a, b) })),
    { minLength: 1, maxLength: 5 },
  );
}

/** Cuts a list into batches of the given sizes, round and round. */
export function inBatches<T>(items: readonly T[], sizes: readonly number[]): T[][] {
  const batches: T[][] = [];
  for (let at = 0, turn = 0; at < items.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    batches.push(items.slice(at, at + size));
    at += size;
  }
  return batches;
}

export const batchSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });

/** The first of each id. */
export function distinct(delivered: readonly Query[]): Query[] {
  return [...new Map(delivered.toReversed().map((query) => [query.id, query])).values()];
}

/** What a range holds, counted one by one. */
export function recount(recorded: readonly Query[], { from, to }: DateRange): Counts {
  const counts = { web: 0, api: 0, other: 0 };
  for (const { caller: name, occurredAt } of recorded) {
    if (occurredAt >= from && occurredAt < to) counts[callerType(name)]++;
  }
  return withTotal(counts);
}

/** Who sent what a range holds, counted one by one. */
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
