/**
 * Traffic as it really is, against a real server with its default settings: SDKs that export spans, the recipes for them, the
 * client's middleware in frameworks, exports of other systems, large bodies. Prints a table of what is counted and what would be correct.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedByTests } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { makeKey, placeWithProject, project } from '../support/cli/cli-place.js';
import { findClients } from '../support/clients/clients.js';
import { startHttpServer } from '../support/http-server.js';
import { installPackages, installTimeoutMs } from '../support/install-packages.js';
import { importRows } from './rows/imports.js';
import { largeBodyRows } from './rows/large-bodies.js';
import { middlewareRows } from './rows/middleware.js';
import { recipeRows } from './rows/recipes.js';
import type { Row } from './rows/row.js';
import { type Scenario, scenarios } from './rows/scenarios.js';
import { sdksFolder } from './support/folder.js';
import { installFrameworks } from './support/frameworks.js';
import { answerLikeOpenAi } from './support/model.js';
import { keepSamples, startTap } from './support/samples.js';

beforeAll(() => installPackages(sdksFolder), installTimeoutMs);

beforeAll(async () => {
  const next = join(sdksFolder, 'node_modules/next/dist/bin/next');
  const options = {
    cwd: join(sdksFolder, 'next'),
    env: { NEXT_TELEMETRY_DISABLED: '1' },
    hangMs: installTimeoutMs,
  };
  expect(await runCommand(process.execPath, [next, 'build'], options)).toMatchObject({ status: 0 });
}, installTimeoutMs);

const running = sharedByTests(async () => {
  const place = await placeWithProject();
  const [recording, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
  const { url } = await place.serve();
  const { count } = clientOf({ url }, project, admin);
  const tap = await startTap(url);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: tap.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_HEADERS: `Authorization=Bearer%20${recording}`,
    OTEL_SERVICE_NAME: 'docs-assistant',
    OPENAI_BASE_URL: `${await startHttpServer(answerLikeOpenAi)}/v1`,
    OPENAI_API_KEY: 'none',
    // Otherwise VoltAgent asks the network for the names of models.
    NODE_ENV: 'production',
  };
  return { env, tap, total: async () => (await count()).body.total };
});

async function countScenario(scenario: Scenario): Promise<number> {
  const { env, tap, total } = running();
  const before = await total();
  const args = [join(sdksFolder, 'run.mjs'), ...scenario.run];
  const outcome = await runCommand(process.execPath, args, { env: { ...env, ...scenario.env } });
  expect(outcome).toMatchObject({ status: 0 });
  tap.keep(scenario);
  return (await total()) - before;
}

const compiled = mkdtempSync(join(tmpdir(), 'caller-stats-test-'));
afterAll(() => rm(compiled, { recursive: true, force: true }));
const { clients, missing } = findClients(compiled);

const rows: readonly Row[] = [
  ...scenarios.map((scenario) => ({ ...scenario, count: () => countScenario(scenario) })),
  ...recipeRows,
  ...middlewareRows(sharedByTests(installFrameworks, installTimeoutMs)),
  ...importRows,
  ...largeBodyRows(clients),
];

const table: (readonly [setup: string, counted: string, correct: string, help: string])[] = [];

test.each(rows.map((row) => [row.setup, row] as const))(
  '%s',
  async (_, { setup, correct, unaided, count }) => {
    const counted = await count();
    table.push([setup, String(counted), String(correct), unaided?.help ?? '']);
    expect(counted).toBe(unaided?.counted ?? correct);
  },
  // Some rows build an app, or send gigabytes.
  300_000,
);

afterAll(async () => {
  const all = [['setup', 'counted', 'correct', 'to be correct'], ...table] as const;
  const width = Math.max(...all.map(([setup]) => setup.length));
  const lines = all.map(([setup, counted, correct, help]) =>
    `${setup.padEnd(width)}  ${counted.padEnd(7)}  ${correct.padEnd(7)}  ${help}`.trimEnd(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  if (missing.length > 0)
    process.stdout.write(`Not tried, because this machine does not have it: ${missing.join(', ')}.\n`);
  await keepSamples(running().tap);
});
