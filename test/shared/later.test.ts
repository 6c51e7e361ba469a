import { expect, test } from 'vitest';
import { later, loadAll } from '../../src/shared/later.js';

test('loads once, when it is needed or all at once, with other work in between', async () => {
  const order: string[] = [];
  const [one, other] = ['one', 'other'].map((name) => later(async () => order.push(name)));
  await other?.();
  expect(order).toEqual(['other']);
  setImmediate(() => order.push('work'));
  await loadAll();
  await Promise.all([one?.(), other?.(), loadAll()]);
  expect(order).toEqual(['other', 'work', 'one']);
});

test('neither another load nor the work that waits for one shares its turn', async () => {
  const order: string[] = [];
  const use = async (name: string): Promise<void> => {
    const load = later(async () => {
      order.push(`load ${name}`);
      setImmediate(() => order.push('turn'));
    });
    await load();
    order.push(`use ${name}`);
  };
  await Promise.all([use('one'), use('other'), loadAll()]);
  expect(order).toEqual(['load one', 'turn', 'use one', 'load other', 'turn', 'use other']);
});

test('what could not be loaded is loaded again', async () => {
  let attempts = 0;
  const load = later(async () => {
    if (++attempts === 1) throw new Error('too many open files');
    return attempts;
  });
  await expect(load()).rejects.toThrow('too many open files');
  expect(await load()).toBe(2);
});
