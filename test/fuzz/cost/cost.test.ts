/** No input holds the server much longer than a certain piece of work takes. `npx tsx test/fuzz/cost/run.ts` searches longer. */
import { expect, test } from 'vitest';
import { programFile } from '../../support/cli/process.js';
import { promisedBytesMax } from '../../support/resident-memory.js';
import { isDeep, newSeed } from '../../support/volume.js';
import { KNOWN_INPUTS } from './known.js';
import { searchCost } from './search.js';

const seconds = isDeep ? 900 : 5;

test('what once held it for seconds does not, nor does what a search finds', async () => {
  const end = performance.now() + seconds * 1000;
  const { tried, findings } = await searchCost({
    program: programFile,
    seed: newSeed('fuzz/cost'),
    residentBytesMax: promisedBytesMax(),
    known: KNOWN_INPUTS,
    goesOn: () => performance.now() < end,
  });
  expect(findings.map(({ what }) => what)).toEqual([]);
  expect(tried).toBeGreaterThanOrEqual(KNOWN_INPUTS.length);
}, 1_800_000);
