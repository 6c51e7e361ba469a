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
