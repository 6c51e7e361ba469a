/**
 * Whether this is the deep run, `npm run test:deep`, which has all random cases, faults and versions of PostgreSQL, and the
 * files named `*.deep.test.ts`. `npm test` is the quick run.
 */
export const isDeep = process.env['CALLER_STATS_TEST_DEEP'] !== undefined;

/** The number of random cases: all in the deep run, otherwise a fifth. An environment variable overrides both. */
export function randomCases(deep: number, variable?: string): number {
  const chosen = variable === undefined ? undefined : process.env[variable];
  return chosen === undefined ? Math.ceil(isDeep ? deep : deep / 5) : Number(chosen);
}

/** The runs of each law. */
export const lawRuns = randomCases(1000, 'CALLER_STATS_LAW_RUNS');

/** Prints a new seed for random input, or the one in `CALLER_STATS_TEST_SEED`: a clean checkout sets it, and you repeat a run by it. */
export function newSeed(name: string): number {
  const seed = Number(process.env['CALLER_STATS_TEST_SEED'] ?? Date.now() % 2 ** 31);
  process.stdout.write(`${name}: seed ${seed}\n`);
  return seed;
}
