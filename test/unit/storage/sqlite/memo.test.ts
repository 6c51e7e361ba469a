import { expect, test } from 'vitest';
import { DataVersion } from '../../../../src/storage/sqlite/counters/read-snapshot.js';
import { Memo } from '../../../../src/storage/sqlite/counters/versioned-cache.js';
import { twoConnections } from '../../../support/sqlite.js';

const entriesMax = 3;

/** A memo that answers with how often it has read, and another connection's commit. */
async function countingMemo() {
  const [db, other] = await twoConnections();
  const memo = new Memo<number | undefined>(new DataVersion(db), entriesMax);
  let reads = 0;
  let commits = 0;
  return {
    ask: (name: string) => memo.get(name, () => ++reads),
    askForNothing: (name: string) => {
      const before = reads;
      const answer = memo.get(name, () => {
        reads++;
        return undefined;
      });
      expect(answer).toBeUndefined();
      return reads - before;
    },
    commit: () => other.exec(`INSERT INTO caller (name) VALUES ('caller ${++commits}')`),
  };
}

test('an answer is read again after every commit, and not before', async () => {
  const { ask, commit } = await countingMemo();
  expect([ask('a'), ask('a'), ask('b'), ask('a'), ask('b')]).toEqual([1, 1, 2, 1, 2]);
  commit();
  expect([ask('b'), ask('b'), ask('a'), ask('a')]).toEqual([3, 3, 4, 4]);
  commit();
  expect([ask('b'), ask('a')]).toEqual([5, 6]);
});

test('that there is nothing is kept, too', async () => {
  const { askForNothing, commit } = await countingMemo();
  expect([askForNothing('a'), askForNothing('a')]).toEqual([1, 0]);
  commit();
  expect([askForNothing('a'), askForNothing('a')]).toEqual([1, 0]);
});

test('as many answers as there may be are kept, and dropped by the next ask', async () => {
  const { ask } = await countingMemo();
  expect([ask('a'), ask('b'), ask('a'), ask('b'), ask('c')]).toEqual([1, 2, 1, 2, 3]);
  expect([ask('d'), ask('d'), ask('a'), ask('a')]).toEqual([4, 4, 5, 5]);
});

test('what a read throws is not kept', async () => {
  const [db] = await twoConnections();
  const memo = new Memo<number>(new DataVersion(db), entriesMax);
  const fail = () => {
    throw new Error('no');
  };
  expect(() => memo.get('a', fail)).toThrow('no');
  expect(memo.get('a', () => 1)).toBe(1);
});
