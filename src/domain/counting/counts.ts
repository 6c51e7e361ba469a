import { type CallerType, callerType } from '../queries/caller.js';

/** Queries by type of caller. */
export interface TypeCounts {
  readonly web: number;
  readonly api: number;
  readonly other: number;
}

/** The answer of caller-stats (contract, part 1). `total` is always the sum of the three beside it. */
export interface Counts extends TypeCounts {
  readonly total: number;
}

/** Adds the total. The only place where one is made, so that it can never come from a second read. */
export function withTotal({ web, api, other }: TypeCounts): Counts {
  return { web, api, other, total: web + api + other };
}

/** The sum of any number of counts; zeros of none. */
export function addCounts(counts: readonly TypeCounts[]): TypeCounts {
  let [web, api, other] = [0, 0, 0];
  for (const one of counts) {
    web += one.web;
    api += one.api;
    other += one.other;
  }
  return { web, api, other };
}

/** As many queries of type other, and none of the others. */
export function countsWithOther(count: number): TypeCounts {
  return { web: 0, api: 0, other: count };
}

/** How many queries came from one caller. */
interface CallerCount {
  readonly caller: string;
  readonly type: CallerType;
  readonly count: number;
}

/** The answer of callers (contract, part 3). `total` is always the sum of the counts beside it. */
export interface CallerCounts {
  readonly total: number;
  /** Most first, then by name. */
  readonly callers: readonly CallerCount[];
}

/** Sorts what was counted, gives each caller its type, leaves out those without queries, and adds the total. */
export function toCallerCounts(counted: Iterable<readonly [caller: string, count: number]>): CallerCounts {
  const callers = [...counted]
    .filter(([, count]) => count !== 0)
    .sort(([a, countOfA], [b, countOfB]) => countOfB - countOfA || (a < b ? -1 : 1))
    .map(([caller, count]) => ({ caller, type: callerType(caller), count }));
  return { total: callers.reduce((sum, { count }) => sum + count, 0), callers };
}
