/** A server with default settings connects to nothing. */
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { firstRunOf } from '../../support/cli/cli.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { emptyPlace } from '../../support/cli/cli-place.js';
import { freePort } from '../../support/free-port.js';
import { root } from '../../tidy/sources.js';

const preload = pathToFileURL(`${root}/test/support/cli/connections-preload.mjs`);

/** Uses a new server in every way that needs no setting, and returns the connections that it opened. */
async function connectionsOf(env: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const place = await emptyPlace();
  const options = { env: { NODE_OPTIONS: `--import=${preload}`, ...env } };
  const server = await place.spawnServer(['--metrics', '0'], options);
  const { project, admin } = firstRunOf(server);
  const client = clientOf(server, project, admin);
  expect(await client.record(batchOf(1, 3))).toMatchObject({ status: 200 });
  expect(await client.count()).toMatchObject({ status: 200 });
  for (const path of ['/', '/set-up', '/docs/', '/docs/try', '/readyz', '/openapi.json', '/api/session'])
    expect((await fetch(`${server.url}${path}`)).status, path).toBe(200);
  const { status, stderr } = await server.stop();
  expect(status).toBe(0);
  return stderr.split('\n').filter((line) => line.startsWith('opens '));
}

test('on SQLite and with default settings, a server opens no connection', async () => {
  expect(await connectionsOf()).toEqual([]);
});

test('the connections of a server are seen', async () => {
  const port = await freePort();
  const opened = await connectionsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
  expect(new Set(opened)).toEqual(new Set([`opens a connection to 127.0.0.1:${port}`]));
});
