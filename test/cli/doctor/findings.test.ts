/** The rules of `caller-stats doctor` that need no machine. */
import { expect, test } from 'vitest';
import { isOpenToOthers, judgeClock, judgeDisk } from '../../../src/cli/doctor/findings.js';

const megabyte = 1024 ** 2;

test.each([
  [0, 0, 'problem'],
  [200 * megabyte - 1, 0, 'problem'],
  [200 * megabyte, 1, 'warning'],
  [299 * megabyte, 100 * megabyte, 'warning'],
  [200 * megabyte, 0, 'ok'],
  [300 * megabyte, 100 * megabyte, 'ok'],
])('%d bytes free for a database of %d bytes: %s', (free, database, status) => {
  expect(judgeDisk('/data', free, database)).toMatchObject({ check: 'disk', status });
});

test.each([
  [10_001, 'problem', 'is 10 s ahead of the other'],
  [-10_001, 'problem', 'is 10 s behind the other'],
  [10_000, 'ok', 'agrees with the other'],
  [-10_000, 'ok', 'agrees with the other'],
])('a clock that differs by %d ms: %s', (difference, status, message) => {
  expect(judgeClock(1_000_000 + difference, 1_000_000, 'the other')).toMatchObject({ status, message });
});

test.each([
  [0o644, 'linux', true],
  [0o660, 'darwin', true],
  [0o601, 'linux', true],
  [0o600, 'linux', false],
  [0o400, 'linux', false],
  [0o666, 'win32', false],
] as const)('a file with mode %o on %s is open to others: %s', (mode, platform, open) => {
  expect(isOpenToOthers(mode, platform)).toBe(open);
});
