/**
 * Real packages in locked environments, behind the frameworks that people use, against a real server: what is counted of each
 * scenario. `npm run test:sdks` writes docs/engineering/sdks.md; with `quick`, it runs the part that CI does.
 */
import { afterAll, expect, test } from 'vitest';
import { installTimeoutMs } from '../support/install-packages.js';
import { services as all } from './rows/services.js';
import { type Result, writePage } from './support/page.js';
import { countScenarios, countStopped, SCENARIOS, type Service, spansLogged } from './support/service.js';

const run = process.env['CALLER_STATS_TEST_SDKS'];
const isQuickRun = run === 'quick';
const services = all.filter(({ isQuick }) => !isQuickRun || isQuick === true);
// The span of a model's call is sent long before that of its request. The quick run does not wait so long.
const toolMs = isQuickRun ? 200 : 7000;

const right = Object.fromEntries(Object.entries(SCENARIOS).map(([name, one]) => [name, one.right]));
const results: Result[] = [];

test.each(services.map((one) => [`${one.language}: ${one.framework}: ${one.sdk}`, one] as const))(
  '%s',
  async (_, service) => {
    const counted = await countScenarios(service, toolMs);
    results.push({ service, counted });
    expect(counted).toEqual({ ...right, ...service.wrong?.counted });
  },
  // The first one of a language installs or compiles its packages.
  installTimeoutMs,
);

const nameOf = ({ language, framework }: Service) => `${language}: ${framework}`;
const firstOfEach = [...new Map(services.toReversed().map((one) => [nameOf(one), one])).values()];

test.each(
  firstOfEach
    .filter(({ framework }) => !isQuickRun || framework.startsWith('FastAPI'))
    .map((one) => [nameOf(one), one] as const),
)(
  '%s, stopped at once after its last answer, loses no question',
  async (_, service) => {
    expect(await countStopped(service)).toEqual({ before: 0, after: 10 });
  },
  installTimeoutMs,
);

const withAgent = services.find(({ sdk }) => sdk.startsWith("LangChain4j, OpenTelemetry's agent"));
if (withAgent !== undefined)
  test(
    "OpenTelemetry's agent for Java loads the span processor, which hands the attributes of a request down",
    async () => {
      const logged = await spansLogged(withAgent, 'message-1');
      const [call = ''] = logged.match(/\{[^{}]*"name":"chat",.*?"status"/) ?? [];
      for (const [key, value] of [
        ['caller_stats.id', 'message-1'],
        ['caller_stats.caller', 'slack'],
      ])
        expect(call).toContain(`{"key":"${key}","value":{"stringValue":"${value}"}}`);
    },
    installTimeoutMs,
  );

test('nineteen scenarios of twenty are right', () => {
  const wrong = services.flatMap((one) => Object.keys(one.wrong?.counted ?? {}));
  expect(wrong.length / (services.length * Object.keys(SCENARIOS).length)).toBeLessThan(0.05);
});

afterAll(() => (run === 'all' ? writePage(results, services) : undefined));
