import { expect, test } from 'vitest';
import { type PastCorrection, type PastQueries, Timeline } from '../../../src/domain/history/timeline.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import { finish } from '../../../src/shared/steps.js';

const query: PastQueries = {
  ...{ caller: 'web', isWithdrawn: false, queries: 1, first: 1, last: 1 },
  ...{ arrivedFrom: null, known: [], corrections: [], firstCaller: 'web' },
};

/** How often somebody asked when a correction was finished, or what it does. */
function counting(corrections: readonly PastCorrection[]) {
  const seen = { times: 0 };
  const noted = corrections.map((one) => ({
    ...one,
    get finishedAt() {
      seen.times++;
      return one.finishedAt;
    },
    get action() {
      seen.times++;
      return one.action;
    },
  }));
  const timeline = new Timeline(dayMs);
  finish(timeline.add(noted));
  seen.times = 0;
  return { seen, timeline };
}

const withdrawal = (number: number): PastCorrection => ({
  ...{ number, id: `c${number}`, action: 'withdraw', to: null, createdBy: 'a test' },
  ...{ undoneBy: `c${number + 1}`, createdAt: 2 * dayMs, finishedAt: 2 * dayMs },
});

const undo = (number: number): PastCorrection => ({ ...withdrawal(number), action: 'undo', undoneBy: null });

const pairs = Array.from({ length: 1_000 }, (_, at) => [withdrawal(2 * at + 1), undo(2 * at + 2)]).flat();

test('what has changed of a query takes no longer because others were corrected', () => {
  const { seen, timeline } = counting(pairs);
  expect([...timeline.changes(query)]).toEqual([]);
  expect(seen.times).toBe(0);
});

test('what has changed of a query takes as long as it was corrected often', () => {
  const { seen, timeline } = counting(pairs);
  const corrections = pairs.filter(({ action }) => action === 'withdraw').map(({ number }) => number);
  const changes = [...timeline.changes({ ...query, corrections })];
  expect(changes.map(({ cause, queries }) => `${cause} ${queries}`)).toEqual(
    pairs.map(({ action }) => (action === 'undo' ? 'undone 1' : 'withdrawn -1')),
  );
  expect(seen.times).toBeLessThan(10 * pairs.length);
});
