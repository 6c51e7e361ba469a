import { describe, expect, test } from 'vitest';
import { BoundedCache } from '../../src/shared/bounded-cache.js';

describe('a bounded cache', () => {
  test('creates each value once, even if it is undefined', () => {
    const cache = new BoundedCache<string, number | undefined>(2);
    let created = 0;
    const create = () => {
      created++;
      return undefined;
    };
    expect([cache.getOrCreate('a', create), cache.getOrCreate('a', create)]).toEqual([undefined, undefined]);
    expect(created).toBe(1);
  });

  test('drops all entries when one more is added to a full one, but not when one is replaced', () => {
    const cache = new BoundedCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('a', 3);
    expect(['a', 'b'].map((key) => cache.get(key))).toEqual([3, 2]);
    cache.set('c', 4);
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, undefined, 4]);
  });

  test('is empty after clear()', () => {
    const cache = new BoundedCache<string, number>(2);
    cache.set('a', 1);
    cache.clear();
    expect(cache.get('a')).toBeUndefined();
  });
});
