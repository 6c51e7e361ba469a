/** Each kind of fault once, on real servers. `npm run faults` repeats them for any time. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { sharedByTests, whenOver } from '../support/cleanup.js';
import { newestPostgres, startPostgres } from '../support/postgres/postgres-server.js';
import { isDeep } from '../support/volume.js';
import { Campaign, faultOf, faultsOf } from './campaign.js';
import type { Fault, StoreKind } from './fault.js';
import { type Worlds, worldsOn } from './worlds.js';

/** A short load before each fault. */
const queries = 1_500;
const seed = 'short';

async function expectNothingLost(
  store: StoreKind,
  faults: readonly Fault[],
  { next }: Worlds,
): Promise<void> {
  const campaign = new Campaign({ seed, store, queries, faults }, next);
  for (const _fault of faults) await campaign.round();
  const { problems, acknowledged } = await campaign.end();
  expect(problems).toEqual([]);
  expect(acknowledged).toBeGreaterThanOrEqual(queries);
}

/** The deep run has all kinds. These are the most likely to lose queries. */
const everyRun = ['kill-server', 'kill-correction', 'fill-disk'];
const faultsOnSqlite = faultsOf('sqlite').filter(({ name }) => isDeep || everyRun.includes(name));

describe('SQLite loses nothing, counts nothing twice and recovers from', () => {
  const worlds = sharedByTests(async () => {
    const made = await worldsOn(undefined);
    whenOver(made.end);
    return made;
  });
  test.concurrent.each(faultsOnSqlite.map((fault) => [fault.name, fault] as const))('%s', (_name, fault) =>
    expectNothingLost('sqlite', [fault], worlds()),
  );
});

/** Only in the deep run: `test/program/postgres/kills.test.ts` kills both in every run. */
const onPostgres = isDeep ? ['kills of its server and of nodes'] : [];

test.each(onPostgres)('PostgreSQL loses nothing, counts nothing twice and recovers from %s', async () => {
  const server = await startPostgres(newestPostgres());
  onTestFinished(() => server.stop());
  const kills = faultsOf('postgres', server).filter(({ name }) => /^kill-(node|database)$/.test(name));
  expect(kills).toHaveLength(2);
  await expectNothingLost('postgres', kills, await worldsOn(server));
});

test('a seed determines the order of faults, which starts with each kind once', () => {
  const faults = faultsOf('sqlite');
  const names = (of: string, rounds = 100) =>
    Array.from({ length: rounds }, (_, number) => faultOf({ seed: of, faults }, number).name);
  expect(names('1')).toEqual(names('1'));
  expect(new Set(names('1', faults.length)).size).toBe(faults.length);
});
