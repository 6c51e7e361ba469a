/** No input holds the server much longer than a certain piece of work takes. `npx tsx test/fuzz/cost/run.ts` searches longer. */
import { describe, expect, test } from 'vitest';
import { programFile } from '../../support/cli/process.js';
import { promisedBytesMax } from '../../support/resident-memory.js';
import { databases } from '../../support/storage/store.js';
import { isDeep, newSeed } from '../../support/volume.js';
import { LONG_HISTORY, SHORT_HISTORY } from './history.js';
import { KNOWN_INPUTS } from './known.js';
import { searchCost } from './search.js';

describe.each(databases)('%s', (kind, newDatabase) => {
  const isShort = kind !== 'SQLite' && !isDeep;
  // They are costly to parse, whatever records them.
  const known = isShort ? [] : KNOWN_INPUTS;
  const seconds = isDeep ? 900 : isShort ? 2 : 3;

  test('what once held it for seconds does not, nor does what a search finds', async () => {
    let endMs: number | undefined;
    const { tried, findings } = await searchCost({
      program: programFile,
      databaseUrl: newDatabase(),
      history: isDeep ? LONG_HISTORY : SHORT_HISTORY,
      seed: newSeed('fuzz/cost'),
      residentBytesMax: promisedBytesMax(),
      known,
      goesOn: () => {
        endMs ??= performance.now() + seconds * 1000;
        return performance.now() < endMs;
      },
    });
    expect(findings.map(({ what }) => what)).toEqual([]);
    expect(tried).toBeGreaterThan(known.length);
  }, 1_800_000);
});
