/** `caller-stats doctor` on broken and on sound machines. */
import { copyFileSync } from 'node:fs';
import { chmod, chown, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import type { Finding } from '../../../src/cli/doctor/findings.js';
import { ZONE_DATA_VERSION } from '../../../src/domain/time/zone-data.js';
import {
  alter,
  emptyPlace,
  type Place,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { freePort } from '../../support/free-port.js';
import { startHttpServer } from '../../support/http-server.js';
import { withFile } from '../../support/storage/sqlite-file.js';

/** Runs the command, whose exit status must fit its findings. Returns what it found of one check. */
async function examine(place: Place, check: Finding['check'], env: Readonly<Record<string, string>> = {}) {
  const { status, stdout, stderr } = await place.run(['doctor', '--json'], { env: { PORT: '0', ...env } });
  const { findings } = JSON.parse(stdout) as { readonly findings: readonly Finding[] };
  const isBroken = findings.some((finding) => finding.status === 'problem');
  expect({ status, stderr }).toEqual({ status: isBroken ? 1 : 0, stderr: '' });
  return findings.filter((finding) => finding.check === check);
}

test('invalid settings are refused, all at once', async () => {
  const place = await emptyPlace();
  const refused = await refusal(place.run(['doctor', '--port', 'x', '--public-url', 'y']), 2);
  expect(refused).toMatch(/--port: "x".*\n.*--public-url: "y"/);
});

test('a folder that is a file is a problem, and nothing else of the database is looked at', async () => {
  const place = await emptyPlace();
  await writeFile(place.path('file'), '');
  const env = { DATABASE_URL: `sqlite:${place.path('file')}/caller-stats.db` };
  expect(await examine(place, 'folder', env)).toMatchObject([
    { status: 'problem', message: expect.stringMatching(/is not a folder$/) },
  ]);
  expect(await examine(place, 'database', env)).toEqual([]);
});

test('the rules of time zones are those of the program', async () => {
  expect(await examine(await emptyPlace(), 'time zones')).toEqual([
    {
      check: 'time zones',
      status: 'ok',
      message: `IANA time zone database ${ZONE_DATA_VERSION}, which is part of caller-stats`,
    },
  ]);
});

test.each([
  ['a text', 'no database at all, but long enough to be read as one'.repeat(20), /is not a database/],
  ['of a newer version', 'PRAGMA user_version = 9999', /schema version 9999, made by a newer/],
])('a database that is %s is a problem', async (what, content, message) => {
  const place = what === 'a text' ? await emptyPlace() : await placeWithProject();
  if (what === 'a text') await writeFile(place.database, content);
  else alter(place, content);
  expect(await examine(place, 'database')).toMatchObject([
    { status: 'problem', message: expect.stringMatching(message) },
  ]);
});

test('a key in use that expires soon is a warning, which names it and its project', async () => {
  const place = await placeWithProject();
  expect(await examine(place, 'recording')).toMatchObject([{ status: 'ok' }]);
  const create = ['key', 'create', '--name', 'Website', '--type', 'recording', '--project', project];
  await succeed(place.run([...create, '--expires', '10d']));
  expect(await examine(place, 'recording')).toMatchObject([{ status: 'ok' }]);
  alter(place, 'UPDATE api_key SET last_used_at = created_at');
  expect(await examine(place, 'recording')).toMatchObject([
    {
      status: 'warning',
      message: expect.stringMatching(
        new RegExp(`^${project}: The key "Website" \\([0-9a-z]{16}\\) is in use and expires at `),
      ),
      advice: expect.stringMatching(/^Rotate it/),
    },
  ]);
  // A key for every project is named once.
  await succeed(place.run(['project', 'create', 'Another']));
  alter(place, "UPDATE api_key SET project_id = NULL, type = 'admin'");
  expect(await examine(place, 'recording')).toMatchObject([
    { status: 'warning', message: expect.stringMatching(/^organization default: The key "Website" /) },
  ]);
});

test('what senders repeat is named, too, because not all of them do', async () => {
  const place = await placeWithProject();
  const create = ['key', 'create', '--name', 'Website', '--type', 'recording', '--project', project];
  const { stdout: key } = await succeed(place.run(create));
  const server = await place.serve(['--requests-per-minute', '1']);
  const record = () =>
    fetch(`${server.url}/v1/analytics/${project}/assistant/queries`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.trim()}`, 'content-type': 'application/json' },
      body: '{"id":"1","caller":"web"}',
    });
  expect([(await record()).status, (await record()).status]).toEqual([200, 429]);
  await server.stop();
  expect(await examine(place, 'recording')).toMatchObject([
    {
      status: 'warning',
      message: expect.stringMatching(
        /^[^:]+: "Website" .* had 1 request refused .* --requests-per-minute allows/,
      ),
    },
  ]);
});

test('files that others can read, and a time in the future, are found', async () => {
  const place = await placeWithProject();
  const secret = `${place.database}.secret`;
  await writeFile(secret, 's'.repeat(32));
  await Promise.all([chmod(place.database, 0o640), chmod(secret, 0o644)]);
  const later = new Date(Date.now() + 3_600_000);
  await utimes(place.database, later, later);
  expect(await examine(place, 'permissions')).toMatchObject([
    { status: 'warning', advice: `run: chmod 600 '${place.database}'` },
  ]);
  expect(await examine(place, 'secret')).toMatchObject([
    { status: 'problem', advice: `run: chmod 600 '${secret}'` },
  ]);
  expect(await examine(place, 'clock')).toMatchObject([
    { status: 'problem', message: expect.stringMatching(/s behind the last change of the database/) },
  ]);
});

test('a database of root in the folder of another user is found', async () => {
  const place = await placeWithProject();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(dirname(place.database), 1234, 1234);
  expect(await examine(place, 'permissions')).toMatchObject([
    isRoot
      ? {
          status: 'warning',
          message: expect.stringMatching(/belongs to root, and the folder of the database to the user 1234/),
        }
      : { status: 'ok' },
  ]);
});

test('a secret of root beside a database of another user is found', async () => {
  const place = await placeWithProject();
  const secret = join(place.folder, 'secret');
  await writeFile(secret, 's'.repeat(32), { mode: 0o600 });
  const isRoot = process.getuid?.() === 0;
  const examineSecret = () => examine(place, 'secret', { CALLER_STATS_SECRET_FILE: secret });
  expect(await examineSecret()).toMatchObject([{ status: 'ok' }]);
  if (isRoot) await chown(dirname(place.database), 1234, 1234);
  expect(await examineSecret()).toMatchObject([
    isRoot
      ? {
          status: 'warning',
          message: expect.stringContaining(secret),
          advice: expect.stringMatching(/chown 1234:1234/),
        }
      : { status: 'ok' },
  ]);
});

test('a secret that is too short is a problem, and is not shown', async () => {
  const place = await placeWithProject();
  await writeFile(`${place.database}.secret`, 'hidden-text');
  const [found] = await examine(place, 'secret');
  expect(found).toMatchObject({ status: 'problem', message: expect.stringMatching(/shorter than 32/) });
  expect(JSON.stringify(found)).not.toContain('hidden-text');
});

test('a port that another program uses is a problem', async () => {
  const place = await emptyPlace();
  const url = new URL(await startHttpServer((_request, response) => response.end('{"status":"other"}')));
  expect(await examine(place, 'port', { PORT: url.port })).toMatchObject([
    {
      status: 'problem',
      message: `127.0.0.1:${url.port} is in use by another program`,
      advice: 'choose another with --port',
    },
  ]);
});

test('the public URL is tried while the server runs', async () => {
  const place = await emptyPlace();
  const server = await place.serve();
  const { port } = new URL(server.url);
  const nowhere = `https://localhost:${await freePort()}`;
  const tried = (publicUrl: string, more = {}) =>
    examine(place, 'public URL', { PORT: port, CALLER_STATS_PUBLIC_URL: publicUrl, ...more });
  expect(await tried(nowhere)).toMatchObject([
    { status: 'problem', message: expect.stringMatching(/No response from https:\/\/localhost/) },
  ]);
  expect(await tried(server.url)).toMatchObject([
    { status: 'ok', message: `${server.url} leads to a caller-stats` },
  ]);
  expect(await tried(nowhere, { PORT: '0' })).toMatchObject([
    { status: 'ok', message: expect.stringMatching(/was not tried/) },
  ]);
  expect(await tried('http://stats.example.org', { PORT: '0' })).toMatchObject([
    { status: 'warning', message: expect.stringMatching(/has no TLS/) },
  ]);
  expect(await examine(place, 'public URL', { HOST: '0.0.0.0' })).toMatchObject([
    { status: 'warning', message: 'is not set, so links lead to 0.0.0.0' },
  ]);
  expect(await examine(place, 'port', { PORT: port })).toMatchObject([
    { status: 'ok', message: `a caller-stats serves 127.0.0.1:${port}` },
  ]);
});

test('PostgreSQL: the version and the clock of the server, and where the secret is', async () => {
  const place = await emptyPlace();
  const env = { DATABASE_URL: inject('postgresServers').at(-1)?.url ?? '' };
  expect(await examine(place, 'database', env)).toMatchObject([{ status: 'ok' }]);
  expect(await examine(place, 'clock', env)).toMatchObject([
    { status: 'ok', message: 'agrees with the clock of the database' },
  ]);
  expect(await examine(place, 'secret', env)).toMatchObject([{ status: 'warning' }]);
  expect(
    await examine(place, 'secret', { ...env, CALLER_STATS_SECRET_FILE: place.path('none') }),
  ).toMatchObject([{ status: 'problem', message: expect.stringMatching(/is missing or empty/) }]);
  const away = { DATABASE_URL: `postgres://a@127.0.0.1:${await freePort()}/b` };
  expect(await examine(place, 'database', away)).toMatchObject([
    { status: 'problem', message: expect.stringMatching(/ECONNREFUSED/) },
  ]);
});

test('an older version is named, and the database and its log stay as they are', async () => {
  const [open, left] = [await placeWithProject(), await emptyPlace()];
  alter(open, 'PRAGMA user_version = 19');
  // As a killed process leaves them.
  withFile(open.database, (db) => {
    db.exec("PRAGMA journal_mode = WAL; UPDATE project SET name = 'Other'");
    for (const end of ['', '-wal']) copyFileSync(open.database + end, left.database + end);
  });
  const contents = () => Promise.all(['', '-wal'].map((end) => readFile(left.database + end)));
  const before = await contents();
  expect(before[1]?.length).toBeGreaterThan(0);
  const message = expect.stringMatching(/has schema version 19; the next start upgrades it to \d+$/);
  expect(await examine({ ...left, run: left.spawn }, 'database')).toMatchObject([{ status: 'ok', message }]);
  expect((await contents()).map((content, at) => content.equals(before[at] ?? content))).toEqual([
    true,
    true,
  ]);
});

test('an empty folder is without problems, and stays empty', async () => {
  const place = await emptyPlace();
  const { status, stdout } = await place.run(['doctor', '--port', '0']);
  expect({ status, last: stdout.trimEnd().split('\n').at(-1) }).toEqual({
    status: 0,
    last: 'No problem was found.',
  });
  expect(await readdir(place.folder)).toEqual([]);
});
