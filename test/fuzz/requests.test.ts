/** Sends random valid, mutated and broken requests. `npm run fuzz` sends more of them. */
import { expect, test } from 'vitest';
import { newSeed, randomCases } from '../support/volume.js';
import { fuzz } from './campaign.js';

const requests = randomCases(30_000, 'CALLER_STATS_FUZZ_REQUESTS');
const seed = newSeed('fuzz/requests');

test('every response follows the rules, and every acknowledged query counts once', async () => {
  const report = await fuzz({ requests, seed, now: () => performance.now() });
  expect(report.violations).toEqual([]);
  // Each operation accepted and refused requests.
  for (const [path, counts] of report.responses) {
    const found = counts.get(path.endsWith('Id}') ? '404' : '200') ?? 0;
    expect([path, found, counts.get('400') ?? 0]).toEqual([
      path,
      expect.toSatisfy((count: number) => count > requests / 1000),
      expect.toSatisfy((count: number) => count > requests / 1000),
    ]);
  }
  expect(report.responses.size).toBeGreaterThan(8);
  expect(report.events).toBeGreaterThan(requests / 50);
  expect(report.traces).toBeGreaterThan(requests / 60);
  expect(report.repeated).toBeGreaterThan(requests / 30);
}, 600_000);
