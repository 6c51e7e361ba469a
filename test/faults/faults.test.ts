/** Each kind of fault once, on real servers; `npm run faults` goes on for as long as it is told. */
import { afterAll, describe, expect, test } from 'vitest';
import { sharedByTests } from '../support/cleanup.js';
import { Campaign, FAULTS, faultOf } from './campaign.js';
import { World } from './world.js';

/** The load before a fault is short here. */
const queries = 1_500;
const seed = 'short';

const template = sharedByTests(() => World.create());

afterAll(() => template().close());

describe('on SQLite, nothing is lost and nothing counted twice, and trouble ends by itself:', () => {
  const faults = FAULTS.filter(({ stores }) => stores.includes('sqlite'));
  test.concurrent.each(faults.map((fault) => [fault.name, fault] as const))('%s', async (_name, fault) => {
    const plan = { seed, store: 'sqlite', queries, faults: [fault] } as const;
    const campaign = new Campaign(plan, () => template().copy());
    await campaign.round().finally(async () => {
      const { problems, acknowledged } = await campaign.end();
      expect(problems).toEqual([]);
      expect(acknowledged).toBeGreaterThanOrEqual(queries);
    });
  });
});

test('a seed gives the same faults in the same order, each kind first once', () => {
  const names = (of: string, rounds = 100) =>
    Array.from({ length: rounds }, (_, number) => faultOf({ seed: of, faults: FAULTS }, number).name);
  expect(names('1')).toEqual(names('1'));
  expect(new Set(names('1', FAULTS.length)).size).toBe(FAULTS.length);
});
