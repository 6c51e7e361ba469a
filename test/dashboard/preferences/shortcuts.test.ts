import { describe, expect, test } from 'vitest';
import { SHORTCUTS, step } from '../../../dashboard/src/preferences/shortcuts.js';

describe('a shortcut', () => {
  const type = (...keys: [key: string, at: number][]) =>
    keys.reduce<ReturnType<typeof step>>(({ pending }, [name, at]) => step(pending, { key: name, at }), {
      shortcut: null,
      pending: null,
    }).shortcut;

  test('is not matched by an unknown key or the first of two keys', () => {
    expect(type(['x', 0])).toBeNull();
    expect(type(['g', 0])).toBeNull();
    expect(type(['g', 0], ['x', 1])).toBeNull();
  });

  test('of two keys requires them in quick succession', () => {
    expect(type(['g', 0], ['k', 1_000])).toBe('keys');
    expect(type(['g', 0], ['k', 2_000])).toBeNull();
    expect(type(['g', 0], ['g', 100], ['o', 200])).toBe('overview');
  });

  test('matches every key sequence in the list, and all are unique', () => {
    for (const { keys, name } of SHORTCUTS) {
      expect(type(...keys.split(' ').map((one, at): [string, number] => [one, at]))).toBe(name);
    }
    expect(new Set(SHORTCUTS.map(({ keys }) => keys)).size).toBe(SHORTCUTS.length);
  });
});
