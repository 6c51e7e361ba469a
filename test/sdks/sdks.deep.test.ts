/** Real SDKs, used as teams use them, against a real server with its default settings. Prints a table. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedByTests } from '../support/cleanup.js';
import { runCommand } from '../support/cli/cli.js';
import { clientOf } from '../support/cli/cli-client.js';
import { makeKey, placeWithProject, project } from '../support/cli/cli-place.js';
import { installSdks, installTimeoutMs, sdksFolder } from './install.js';
import { rows } from './rows.js';
import { startModelServer } from './support/model-server.js';
import { keepSamples, startTap } from './support/samples.js';

beforeAll(installSdks, installTimeoutMs);

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
    OPENAI_BASE_URL: `${await startModelServer()}/v1`,
    OPENAI_API_KEY: 'none',
  };
  return { env, tap, total: async () => (await count()).body.total };
});

const table: (readonly [setup: string, counted: string, correct: string, help: string])[] = [];

test.each(rows.map((row) => [row.setup, row] as const))('%s', async (_, row) => {
  const { env, tap, total } = running();
  const before = await total();
  const args = [join(sdksFolder, 'run.mjs'), ...row.run];
  const outcome = await runCommand(process.execPath, args, { env: { ...env, ...row.env } });
  expect(outcome).toMatchObject({ status: 0 });
  const counted = (await total()) - before;
  table.push([row.setup, String(counted), String(row.correct), row.unaided?.help ?? '']);
  tap.keep(row);
  expect(counted).toBe(row.unaided?.counted ?? row.correct);
});

afterAll(async () => {
  const all = [['setup', 'counted', 'correct', 'to be correct'], ...table] as const;
  const width = Math.max(...all.map(([setup]) => setup.length));
  const lines = all.map(([setup, counted, correct, help]) =>
    `${setup.padEnd(width)}  ${counted.padEnd(7)}  ${correct.padEnd(7)}  ${help}`.trimEnd(),
  );
  process.stdout.write(`${lines.join('\n')}\n`);
  await keepSamples(running().tap);
});
