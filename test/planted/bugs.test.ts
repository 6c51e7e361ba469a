/** Each planted bug has a place in the source, and a test that finds it. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { replaceOnce } from '../support/setup/planted.js';
import { PLANTED_BUGS } from './bugs.js';

test('there are at least 60, and each of them can be planted', () => {
  expect(PLANTED_BUGS.length).toBeGreaterThanOrEqual(60);
  expect(new Set(PLANTED_BUGS.map(({ what }) => what)).size).toBe(PLANTED_BUGS.length);
  for (const bug of PLANTED_BUGS) {
    expect(existsSync(bug.test), bug.test).toBe(true);
    expect(() => replaceOnce(readFileSync(bug.file, 'utf8'), bug)).not.toThrow();
  }
});
