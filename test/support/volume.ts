/**
 * How much of the suite runs. `npm test` is the quick run; `npm run test:deep` makes all random cases, breaks things in every
 * way, uses every version of PostgreSQL, and runs the files named `*.deep.test.ts` as well.
 */
export const isDeep = process.env['CALLER_STATS_TEST_DEEP'] !== undefined;

/** How many random cases a test makes: all of them in the deep run, otherwise a fifth. A variable of the environment overrides both. */
export function randomCases(deep: number, variable?: string): number {
  const chosen = variable === undefined ? undefined : process.env[variable];
  return chosen === undefined ? Math.ceil(isDeep ? deep : deep / 5) : Number(chosen);
}

/** Runs of a law. */
export const lawRuns = randomCases(1000, 'CALLER_STATS_LAW_RUNS');

/** Prints a new seed for random input, or the one in `CALLER_STATS_TEST_SEED`, which repeats a run that failed. */
export function newSeed(name: string): number {
  const seed = Number(process.env['CALLER_STATS_TEST_SEED'] ?? Date.now() % 2 ** 31);
  process.stdout.write(`${name}: seed ${seed}\n`);
  return seed;
}
