/** Each kind of fault once, on real servers; `npm run faults` goes on for as long as it is told. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { sharedByTests, whenOver } from '../support/cleanup.js';
import { newestPostgres, startPostgres } from '../support/postgres-server.js';
import { isDeep } from '../support/volume.js';
import { Campaign, faultOf, faultsOf } from './campaign.js';
import type { Fault, StoreKind } from './fault.js';
import { type Worlds, worldsOn } from './worlds.js';

/** The load before a fault is short here. */
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

/** The deep run has all kinds. These three, with kills of PostgreSQL below, lose acknowledged queries soonest. */
const everyRun = ['kill-server', 'fill-disk', 'flip-byte'];
const faultsOnSqlite = faultsOf('sqlite').filter(({ name }) => isDeep || everyRun.includes(name));

describe('on SQLite, nothing is lost and nothing counted twice, and trouble ends by itself:', () => {
  const worlds = sharedByTests(async () => {
    const made = await worldsOn(undefined);
    whenOver(made.end);
    return made;
  });
  test.concurrent.each(faultsOnSqlite.map((fault) => [fault.name, fault] as const))('%s', (_name, fault) =>
    expectNothingLost('sqlite', [fault], worlds()),
  );
});

test('on PostgreSQL as well: kills of its server and of nodes', async () => {
  const server = await startPostgres(newestPostgres());
  onTestFinished(() => server.stop());
  const kills = faultsOf('postgres', server).filter(({ name }) => /^kill-(node|database)$/.test(name));
  expect(kills).toHaveLength(2);
  await expectNothingLost('postgres', kills, await worldsOn(server));
});

test('a seed gives the same faults in the same order, each kind first once', () => {
  const faults = faultsOf('sqlite');
  const names = (of: string, rounds = 100) =>
    Array.from({ length: rounds }, (_, number) => faultOf({ seed: of, faults }, number).name);
  expect(names('1')).toEqual(names('1'));
  expect(new Set(names('1', faults.length)).size).toBe(faults.length);
});
