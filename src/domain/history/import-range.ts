/** Where imports lie: when what they brought occurred. */
import type { ArrivingCount } from '../counting/imported-count.js';
import { type ArrivingQuery, isImport, type Receipt, sourceOfCounts } from '../queries/receipt.js';
import { dayMs } from '../time/duration.js';

/** What one import brought on a day, or several of the same files. */
export interface ImportRange extends Receipt {
  /** The first and the last moment, in milliseconds since 1970. */
  readonly first: number;
  readonly last: number;
}

/** How many are told at most, the newest ones. */
export const importRangesMax = 50;

/**
 * Whether an import has changed numbers that somebody may have seen. One that brings each day what the day before left does not, and
 * has no mark.
 */
export function reachesBack({ day, first }: ImportRange): boolean {
  return first < (day - 1) * dayMs;
}

/** The imports among these queries. Those that do not say how they arrived have `shared`. */
export function importsOf(
  queries: readonly ArrivingQuery[],
  shared: Receipt | undefined,
): readonly ImportRange[] {
  const isShared = (query: ArrivingQuery) => query.receipt === undefined;
  const isImported = shared !== undefined && isImport(shared);
  if (queries.every(isShared)) return isImported ? rangeOf(shared, queries) : [];
  const ranges = new Ranges();
  for (const { receipt = shared, occurredAt } of queries)
    if (receipt && isImport(receipt)) ranges.add(receipt, occurredAt, occurredAt);
  return ranges.all;
}

function rangeOf(receipt: Receipt, queries: readonly ArrivingQuery[]): readonly ImportRange[] {
  let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { occurredAt } of queries) {
    first = Math.min(first, occurredAt);
    last = Math.max(last, occurredAt);
  }
  return queries.length === 0 ? [] : [{ ...receipt, first, last }];
}

/** The same for imported counts. `day` is that of those that have none. */
export function importsOfCounts(
  counts: readonly ArrivingCount[],
  day: number | undefined,
): readonly ImportRange[] {
  const ranges = new Ranges();
  for (const { source, day: own = day, start, end, count } of counts)
    if (typeof own === 'number' && count > 0)
      ranges.add({ day: own, sender: sourceOfCounts(source) }, start, end - 1);
  return ranges.all;
}

class Ranges {
  readonly #ranges = new Map<string, ImportRange>();

  get all(): readonly ImportRange[] {
    return [...this.#ranges.values()];
  }

  add({ day, sender }: Receipt, from: number, to: number): void {
    const key = `${day} ${sender}`;
    const { first, last } = this.#ranges.get(key) ?? { first: from, last: to };
    this.#ranges.set(key, { day, sender, first: Math.min(first, from), last: Math.max(last, to) });
  }
}
