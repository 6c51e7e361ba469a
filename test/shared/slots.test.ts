import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Slots } from '../../src/shared/slots.js';

test('a failed task makes room for the next one', async () => {
  const slots = new Slots(1);
  const failed = slots.run(() => Promise.reject(new Error('broken')));
  await expect(failed).rejects.toThrow('broken');
  expect(await slots.run(async () => 1)).toBe(1);
});

test('a task whose signal is aborted while it waits leaves its place to others, and never runs', async () => {
  const slots = new Slots(1, 2);
  let end = () => {};
  const first = slots.run(() => new Promise<void>((resolve) => (end = resolve)));
  const ran: string[] = [];
  const stop = new AbortController();
  const task = (name: string) => async () => void ran.push(name);
  const stopped = slots.run(task('stopped'), stop.signal);
  const second = slots.run(task('second'));
  expect(slots.isFull).toBe(true);
  stop.abort(new Error('no more'));
  await expect(stopped).rejects.toThrow('no more');
  expect(slots.isFull).toBe(false);
  await expect(slots.run(task('third'), stop.signal)).rejects.toThrow('no more');
  const later = new AbortController();
  const fourth = slots.run(async () => {
    later.abort();
    ran.push('fourth');
  }, later.signal);
  end();
  await Promise.all([first, second, fourth]);
  expect(ran).toEqual(['second', 'fourth']);
});

test('never more tasks run than there are slots; they start in their order, and all of them end', async () => {
  const turns = fc.array(fc.nat(5), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(turns, fc.integer({ min: 1, max: 4 }), fc.nat(5), async (lengths, count, waitingMax) => {
      const slots = new Slots(count, waitingMax);
      const started: number[] = [];
      let running = 0;
      const all = lengths.map((length, at) => {
        expect(slots.isFull).toBe(at >= count + waitingMax);
        return slots.run(async () => {
          started.push(at);
          expect(++running).toBeLessThanOrEqual(count);
          for (let turn = 0; turn < length; turn++) await Promise.resolve();
          running--;
        });
      });
      await Promise.all(all);
      expect(started).toEqual(lengths.map((_, at) => at));
      expect(slots.isFull).toBe(false);
    }),
  );
});
