/** The service under requests that nobody would send by hand: `npm run fuzz` sends more of them. */
import { expect, test } from 'vitest';
import { newSeed, randomCases } from '../support/volume.js';
import { fuzz } from './campaign.js';

const requests = randomCases(30_000, 'CALLER_STATS_FUZZ_REQUESTS');
const seed = newSeed('fuzz/requests');

test('no request gets an answer that it should not, and every acknowledged query counts once', async () => {
  const report = await fuzz({ requests, seed, now: () => performance.now() });
  expect(report.violations).toEqual([]);
  // All of it was there: each operation was reached, and both entered and refused.
  for (const [path, counts] of report.answers)
    expect([path, counts.get('200') ?? 0, counts.get('400') ?? 0]).toEqual([
      path,
      expect.toSatisfy((count: number) => count > requests / 1000),
      expect.toSatisfy((count: number) => count > requests / 1000),
    ]);
  expect(report.answers.size).toBeGreaterThan(8);
  expect(report.events).toBeGreaterThan(requests / 50);
  expect(report.traces).toBeGreaterThan(requests / 60);
  expect(report.repeated).toBeGreaterThan(requests / 30);
}, 600_000);
