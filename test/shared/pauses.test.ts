import { expect, test } from 'vitest';
import { Pauses } from '../../src/shared/pauses.js';

test('a turn is over after its steps, and the next one begins when it is there', async () => {
  let begun = 0;
  const pauses = new Pauses(3, async () => {
    begun++;
  });
  for (let turn = 1; turn <= 3; turn++) {
    expect([pauses.take(), pauses.take()]).toEqual([undefined, undefined]);
    expect(begun).toBe(turn - 1);
    await pauses.take();
    expect(begun).toBe(turn);
  }
  expect(pauses.take(2)).toBe(undefined);
  expect(pauses.take(5)).toBeInstanceOf(Promise);
});

test('without more, the next turn comes after what was waiting', async () => {
  const order: string[] = [];
  setImmediate(() => order.push('other'));
  await new Pauses(1).take();
  order.push('next');
  expect(order).toEqual(['other', 'next']);
});
