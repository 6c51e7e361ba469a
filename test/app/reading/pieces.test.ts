import { expect, test } from 'vitest';
import { CSV_FORM, JSON_FORM, type Listing, writeInPieces } from '../../../src/app/reading/pieces.js';
import { callersToCsv } from '../../../src/domain/counting/csv.js';

const answerOf = (callers: number) => ({
  total: callers,
  callers: Array.from({ length: callers }, (_, at) => ({
    caller: `ÿ-${at},"callers":[]`,
    type: 'other' as const,
    count: 1,
  })),
  behind: 'it',
});

test.each([0, 1, 999, 1_000, 1_001, 2_000, 5_432])('%i items are written as all at once', async (items) => {
  const answer = answerOf(items);
  for (const [form, write] of [
    [JSON_FORM, (some: typeof answer) => JSON.stringify(some)],
    [CSV_FORM, callersToCsv],
  ] as const) {
    const lengths: number[] = [];
    const noted = (some: typeof answer) => {
      lengths.push(some.callers.length);
      return write(some);
    };
    expect((await writeInPieces(answer, 'callers', form, noted)).toString()).toBe(write(answer));
    expect(Math.max(...lengths)).toBe(Math.min(items, 1_000));
  }
});

test('other work is done between two pieces, whichever answers they are of', async () => {
  const order: string[] = [];
  const write = () =>
    writeInPieces(answerOf(3_000), 'callers', JSON_FORM, (some) => {
      if (some.callers.length > 0) {
        order.push('piece');
        setImmediate(() => order.push('other'));
      }
      return JSON.stringify(some);
    });
  await Promise.all([write(), write()]);
  expect(order.slice(0, 11).join()).toBe('piece,other,piece,other,piece,other,piece,other,piece,other,piece');
});

test('an answer without the list cannot be written', async () => {
  const answer = { buckets: Array.from({ length: 1_001 }) };
  const write = ({ buckets }: Listing<'buckets'>) => JSON.stringify({ items: buckets });
  await expect(writeInPieces(answer, 'buckets', JSON_FORM, write)).rejects.toThrow('has a list buckets');
});
