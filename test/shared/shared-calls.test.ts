import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SharedCalls } from '../../src/shared/shared-calls.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a failed call fails all who share it, and nobody later', async () => {
  const calls = new SharedCalls<number>();
  const failing = () => Promise.reject(new Error('broken'));
  const asked = [calls.ask('a', failing), calls.ask('a', failing)];
  for (const { status } of await Promise.allSettled(asked)) expect(status).toBe('rejected');
  expect(await calls.ask('a', () => Promise.resolve(1))).toBe(1);
});

test('nobody gets an answer to another key, or from a call that began before asking', async () => {
  const moves = fc.array(fc.oneof(fc.constant(null), fc.constantFrom('a', 'b', 'c')), { maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(moves, async (keys) => {
      let now = 0;
      const calls = new SharedCalls<{ key: string; began: number }>();
      const asked: Promise<void>[] = [];
      for (const key of keys) {
        now++;
        if (key === null) await turn();
        else {
          const at = now;
          const call = () => Promise.resolve({ key, began: now });
          asked.push(
            calls.ask(key, call).then((answer) => {
              expect(answer.key).toBe(key);
              expect(answer.began).toBeGreaterThanOrEqual(at);
            }),
          );
        }
      }
      await Promise.all(asked);
    }),
  );
});

test('all who ask in one turn share one call', async () => {
  const calls = new SharedCalls<number>();
  let made = 0;
  const call = () => Promise.resolve(++made);
  expect(await Promise.all([calls.ask('a', call), calls.ask('a', call), calls.ask('a', call)])).toEqual([
    1, 1, 1,
  ]);
  expect(await calls.ask('a', call)).toBe(2);
});
