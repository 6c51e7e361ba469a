/** Servers that tell systemd when they are ready, here to a program with the name of systemd's. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { type Running, startCli } from '../../support/cli/cli.js';
import { emptyPlace, type Place } from '../../support/cli/cli-place.js';
import { freePort } from '../../support/free-port.js';

const kept = { CALLER_STATS_FIRST_RUN_FILE: 'none' };

/** The environment that a unit of `Type=notify` gives. What is told is written to the file `told`, with the first keys of then. */
async function notified(place: Place, status = 0): Promise<Record<string, string>> {
  await mkdir(place.path('bin'));
  const script = `#!/bin/sh
{ echo "$@ to $NOTIFY_SOCKET \${CALLER_STATS_SECRET-without the secret}"; cat '${place.database}.first-run'; } > '${place.path('told')}' 2>&1
exit ${status}
`;
  await writeFile(place.path('bin/systemd-notify'), script, { mode: 0o700 });
  const PATH = `${place.path('bin')}:${process.env['PATH']}`;
  return { ...kept, PATH, NOTIFY_SOCKET: '/run/systemd/notify', CALLER_STATS_SECRET: 's'.repeat(32) };
}

const told = (place: Place) => readFile(place.path('told'), 'utf8').catch(() => '');

describe('a server that systemd waits for', () => {
  test('is ready when the first keys and the link to set it up are written, and keeps its secrets', async () => {
    const place = await emptyPlace();
    await place.serve([], { env: await notified(place) });
    await expect
      .poll(() => told(place))
      .toMatch(/^--ready to \/run\/systemd\/notify without the secret\n[\s\S]*#\S{43}\n$/);
  });

  test('is ready when its database cannot be reached, too, because it waits for that by itself', async () => {
    const place = await emptyPlace();
    const url = `postgres://nobody@127.0.0.1:${await freePort()}/none`;
    const env = await notified(place);
    const server: Running = startCli(['serve', '--port', '0', '--database', url], { env, cwd: place.folder });
    const host =
      /start the server, or correct them: connect ECONNREFUSED .*the database cannot be used; trying again/;
    await server.logged(host);
    await expect.poll(() => told(place)).toMatch(/^--ready to /);
  });

  test('works if systemd cannot be told, and says so', async () => {
    const place = await emptyPlace();
    const failing = await place.serve([], { env: await notified(place, 3) });
    await failing.logged(
      /"problem":"systemd-notify ended with status 3","msg":"systemd was not told that the server is ready"/,
    );
    const without = { ...kept, NOTIFY_SOCKET: '/run/systemd/notify', PATH: place.path('no-such-folder') };
    const server = await place.serve([], { env: without });
    await server.logged(/"problem":"spawn systemd-notify ENOENT","msg":"systemd was not told/);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});

test('a server of which nothing waits tells nobody', async () => {
  const place = await emptyPlace();
  const { NOTIFY_SOCKET: _none, ...env } = await notified(place);
  const server = await place.serve([], { env });
  await server.stop();
  expect(await told(place)).toBe('');
});
