/** Each planted bug has a place in the source, and a test that finds it. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { replaceOnce } from '../support/setup/planted.js';
import { METHODS_WITHOUT_BUG, PLANTED_BUGS } from './bugs.js';

test('each method of a store has one, and each can be planted', () => {
  // The compiler finds the methods.
  expect(METHODS_WITHOUT_BUG).toEqual({});
  expect(new Set(PLANTED_BUGS.map(({ what }) => what)).size).toBe(PLANTED_BUGS.length);
  for (const bug of PLANTED_BUGS) {
    expect(existsSync(bug.test), bug.test).toBe(true);
    expect(() => replaceOnce(readFileSync(bug.file, 'utf8'), bug)).not.toThrow();
  }
});
