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
  expect(slots.isFull()).toBe(true);
  stop.abort(new Error('no more'));
  await expect(stopped).rejects.toThrow('no more');
  expect(slots.isFull()).toBe(false);
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
        expect(slots.isFull()).toBe(at >= count + waitingMax);
        return slots.run(async () => {
          started.push(at);
          expect(++running).toBeLessThanOrEqual(count);
          for (let turn = 0; turn < length; turn++) await Promise.resolve();
          running--;
        });
      });
      await Promise.all(all);
      expect(started).toEqual(lengths.map((_, at) => at));
      expect(slots.isFull()).toBe(false);
    }),
  );
});

/** Tasks that end when told to, and the names of those that have begun. */
function held(slots: Slots) {
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const run = (name: string, owner: string) =>
    slots.run(
      () => {
        begun.push(name);
        return new Promise<void>((resolve) => ends.push(resolve));
      },
      undefined,
      owner,
    );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const end = async () => {
    ends.shift()?.();
    await settle();
  };
  return { begun, run, end, settle };
}

test('an owner with one task does not wait for all those of another', async () => {
  const slots = new Slots(2, 3);
  const { begun, run, end, settle } = held(slots);
  for (let at = 1; at <= 5; at++) void run(`a${at}`, 'a');
  expect([slots.isFull('a'), slots.isFull('b')]).toEqual([true, false]);
  void run('b1', 'b');
  void run('b2', 'b');
  void run('c1', 'c');
  await settle();
  for (let at = 0; at < 8; at++) await end();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'c1', 'b2', 'a4', 'a5']);
  expect(slots.isFull('a')).toBe(false);
});

test('no owner has more tasks than it may while others may begin', async () => {
  const slots = new Slots(3, 10, 2);
  const { begun, run, end, settle } = held(slots);
  for (let at = 1; at <= 4; at++) void run(`a${at}`, 'a');
  await settle();
  expect(begun).toEqual(['a1', 'a2']);
  void run('b1', 'b');
  await settle();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  for (let at = 0; at < 5; at++) await end();
  expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'a4']);
});
