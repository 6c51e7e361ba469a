import { expect, test } from 'vitest';
import { ReadSnapshot } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { VersionedCache } from '../../../../src/storage/sqlite/counters/versioned-cache.js';
import { twoConnections } from '../../../support/storage/sqlite.js';

const entriesMax = 3;

/** A cache of how many reads there have been, and another connection's commit. */
async function countingCache() {
  const [db, other] = await twoConnections();
  const cache = new VersionedCache<number | undefined>(new ReadSnapshot(db), entriesMax);
  let reads = 0;
  let commits = 0;
  return {
    ask: (name: string) => cache.get(name, () => ++reads),
    askForUndefined: (name: string) => {
      const before = reads;
      const answer = cache.get(name, () => {
        reads++;
        return undefined;
      });
      expect(answer).toBeUndefined();
      return reads - before;
    },
    commit: () => other.exec(`INSERT INTO caller (name) VALUES ('caller ${++commits}')`),
  };
}

test('a value is read again after every commit, and not before', async () => {
  const { ask, commit } = await countingCache();
  expect([ask('a'), ask('a'), ask('b'), ask('a'), ask('b')]).toEqual([1, 1, 2, 1, 2]);
  commit();
  expect([ask('b'), ask('b'), ask('a'), ask('a')]).toEqual([3, 3, 4, 4]);
  commit();
  expect([ask('b'), ask('a')]).toEqual([5, 6]);
});

test('undefined is cached, too', async () => {
  const { askForUndefined, commit } = await countingCache();
  expect([askForUndefined('a'), askForUndefined('a')]).toEqual([1, 0]);
  commit();
  expect([askForUndefined('a'), askForUndefined('a')]).toEqual([1, 0]);
});

test('a full cache is emptied by the next new value', async () => {
  const { ask } = await countingCache();
  expect([ask('a'), ask('b'), ask('a'), ask('b'), ask('c')]).toEqual([1, 2, 1, 2, 3]);
  expect([ask('d'), ask('d'), ask('a'), ask('a')]).toEqual([4, 4, 5, 5]);
});

test('an error is not cached', async () => {
  const [db] = await twoConnections();
  const cache = new VersionedCache<number>(new ReadSnapshot(db), entriesMax);
  const fail = () => {
    throw new Error('no');
  };
  expect(() => cache.get('a', fail)).toThrow('no');
  expect(cache.get('a', () => 1)).toBe(1);
});
