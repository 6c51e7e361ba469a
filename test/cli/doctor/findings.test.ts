/** The rules of `caller-stats doctor` that need no machine. */
import { expect, test } from 'vitest';
import {
  isOpenToOthers,
  judgeClock,
  judgeCluster,
  judgeDisk,
  judgeNode,
} from '../../../src/cli/doctor/findings.js';

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
  [[0, 7], 'ok'],
  [[1, 900], 'ok'],
  [[0, 8], 'warning'],
])('servers of a cluster with %j projects: %s', (counts, status) => {
  const servers = counts.map((projects, at) => ({ name: `w${at}:5432`, projects, bytes: null }));
  const message = `projects by server: w0:5432 ${counts[0]} (size unknown), w1:5432 ${counts[1]} (size unknown)`;
  expect(judgeCluster(servers)).toMatchObject({ check: 'cluster', status, message });
});

test.each([
  [[0, 10_240], 'warning'],
  [[3000, 10_240], 'warning'],
  [[4000, 10_240], 'ok'],
  [[1, 10_000], 'ok'],
  [[null, 90_000], 'ok'],
])('servers of a cluster with %j MB: %s', (sizes, status) => {
  const servers = sizes.map((size, at) => ({
    ...{ name: `w${at}:5432`, projects: 4 },
    bytes: size === null ? null : size * megabyte,
  }));
  expect(judgeCluster(servers)).toMatchObject({ check: 'cluster', status });
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
  ['20.20.2', '2026-11-26', true],
  ['21.7.3', '2026-11-26', true],
  ['22.23.3', '2027-04-29', false],
  ['22.23.3', '2027-04-30', true],
  ['23.1.0', '2026-11-26', true],
  ['24.21.0', '2026-11-26', false],
  ['27.0.0', '2030-01-01', false],
])('Node %s on %s is outdated: %s', (version, day, isOutdated) => {
  const found = judgeNode(version, Date.parse(day));
  if (isOutdated)
    expect(found).toMatchObject({
      check: 'Node',
      status: 'warning',
      advice: expect.stringContaining('Node 24'),
    });
  else expect(found).toBeUndefined();
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
