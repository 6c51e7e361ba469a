/** The batches of an import of counts. */
import { expect, test } from 'vitest';
import { type CountSink, importCounts } from '../../../src/app/history/import.js';
import type { ImportedCount } from '../../../src/domain/counting/imported-count.js';
import { CallerStatsError } from '../../../src/domain/errors.js';
import { importedCountsMax } from '../../../src/domain/limits.js';

const counts: ImportedCount[] = Array.from({ length: 2 * importedCountsMax + 3 }, (_, at) => ({
  ...{ source: 'old', caller: 'web', start: at, end: at + 1, count: 1 },
}));
const quickly = { note: () => {}, sleep: async () => {} };
const unavailable = new CallerStatsError('unavailable', 'It gave no answer.');

/** Imports into a sink that answers as `answer` says. Returns the sizes of the batches, and whether each was only checked. */
async function importInto(
  answer: (batch: readonly ImportedCount[], dryRun: boolean) => void,
  dryRun = false,
) {
  const sent: [size: number, dryRun: boolean][] = [];
  const there = new Set<number>();
  const sink: CountSink = async (batch, given) => {
    sent.push([batch.length, given.dryRun]);
    answer(batch, given.dryRun);
    const fresh = batch.filter(({ start }) => !there.has(start));
    if (!given.dryRun) for (const { start } of batch) there.add(start);
    return { recorded: fresh.length, duplicates: batch.length - fresh.length };
  };
  const result = await importCounts(counts, sink, { dryRun, ...quickly }).catch((error: unknown) => error);
  return { result, sent, there };
}

test('nothing is imported if a count of the last batch is refused', async () => {
  const refusal = new CallerStatsError('already_exists', 'No.');
  const { result, sent, there } = await importInto((batch) => {
    if (batch.length < importedCountsMax) throw refusal;
  });
  expect([result, there.size]).toEqual([refusal, 0]);
  expect(sent.every(([, isDry]) => isDry)).toBe(true);
});

test('batches become smaller while the target gives no answer in time, and larger again', async () => {
  let slow = true;
  const { result, sent, there } = await importInto((batch, isDry) => {
    if (isDry || !slow) return;
    if (batch.length > 100) throw unavailable;
    slow = false;
  });
  expect(result).toEqual({ recorded: counts.length, duplicates: 0 });
  expect(there.size).toBe(counts.length);
  const sizes = sent.filter(([, isDry]) => !isDry).map(([size]) => size);
  expect(sizes).toEqual([500, 250, 125, 63, 126, 252, 500, 62]);
});

test('a target that stays away is asked a few times only', async () => {
  const { result, sent } = await importInto(() => {
    throw unavailable;
  }, true);
  expect(result).toBe(unavailable);
  expect(sent.length).toBeLessThan(10);
});
