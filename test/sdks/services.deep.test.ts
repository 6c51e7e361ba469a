/**
 * Real packages in locked environments, behind the frameworks that people use, against a real server: what is counted of each
 * scenario. `npm run test:sdks` writes docs/engineering/sdks.md; with `quick`, it runs the part that CI does.
 */
import { afterAll, expect, test } from 'vitest';
import { installTimeoutMs } from '../support/install-packages.js';
import { services as all } from './rows/services.js';
import { type Result, writePage } from './support/page.js';
import { countScenarios, SCENARIOS } from './support/service.js';

const run = process.env['CALLER_STATS_TEST_SDKS'];
const services = all.filter(({ isQuick }) => run !== 'quick' || isQuick === true);

const right = Object.fromEntries(Object.entries(SCENARIOS).map(([name, one]) => [name, one.right]));
const results: Result[] = [];

test.each(services.map((one) => [`${one.language}: ${one.framework}: ${one.sdk}`, one] as const))(
  '%s',
  async (_, service) => {
    const counted = await countScenarios(service);
    results.push({ service, counted });
    expect(counted).toEqual({ ...right, ...service.wrong?.counted });
  },
  // The first one of a language installs or compiles its packages.
  installTimeoutMs,
);

test('nineteen scenarios of twenty are right', () => {
  const wrong = services.flatMap((one) => Object.keys(one.wrong?.counted ?? {}));
  expect(wrong.length / (services.length * Object.keys(SCENARIOS).length)).toBeLessThan(0.05);
});

afterAll(() => (run === 'all' ? writePage(results, services) : undefined));
