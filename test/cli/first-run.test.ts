import { readdir, readFile, stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { firstRunOf, LATER_START, matched, runCommand, type Server } from '../support/cli.js';
import { clientOf } from '../support/cli-client.js';
import { emptyPlace, placeWithProject, succeed } from '../support/cli-place.js';
import { expected } from '../support/sample.js';

/** The printed line or lines that begin with this, as somebody would copy them, joined where they go on. */
function curlAfter(stdout: string, title: string): string {
  return matched(stdout, new RegExp(`^${title}\n\n((?:  .+\n)+)`, 'm'));
}

test('the first run makes a project and keys, and its curl lines work as printed', async () => {
  const place = await emptyPlace();
  const server = await place.serve();
  const made = firstRunOf(server);
  expect(made).toEqual({
    project: expect.stringMatching(/^[0-9a-z]{16}$/),
    admin: expect.stringMatching(/^cs_admin_[0-9A-Za-z]{49}$/),
    recording: expect.stringMatching(/^cs_recording_[0-9A-Za-z]{49}$/),
  });
  expect(server.stdout.split(made.admin)).toHaveLength(3);
  const read = curlAfter(server.stdout, 'Read the counts:');
  const record = curlAfter(server.stdout, 'Record a query:');
  const paste = async (line: string) => {
    const { stdout } = await succeed(runCommand('bash', ['-c', line]));
    return JSON.parse(stdout) as unknown;
  };
  expect(await paste(read)).toEqual({ web: 0, api: 0, other: 0, total: 0 });
  expect(await paste(record)).toEqual({ recorded: 1, duplicates: 0 });
  expect(await paste(record)).toEqual({ recorded: 0, duplicates: 1 });
  expect(await paste(read)).toEqual({ web: 1, api: 0, other: 0, total: 1 });
  const docs = matched(server.stdout, /^Documentation: (\S+)$/m);
  expect((await fetch(docs)).status).toBe(200);
});

test('the keys are shown once and kept nowhere', async () => {
  const place = await emptyPlace();
  const first = await place.serve(['--log-level', 'trace']);
  const { project, admin, recording } = firstRunOf(first);
  expect(await clientOf(first, project, admin).count()).toMatchObject({ status: 200 });
  const whileRunning = await filesOf(place.folder);
  const { status, stderr } = await first.stop();
  expect(status).toBe(0);
  const again = await place.serve();
  expect(again.stdout).toMatch(LATER_START);
  expect(await clientOf(again, project, admin).count()).toMatchObject({ status: 200 });
  await again.stop();
  const afterwards = await filesOf(place.folder);
  expect(afterwards.size).toBeGreaterThan(0);
  for (const key of [admin, recording]) {
    expect(stderr).not.toContain(key);
    for (const [name, bytes] of [...whileRunning, ...afterwards]) {
      expect(bytes.includes(key), `${name} has a key in it`).toBe(false);
    }
  }
});

/** Sets up the dashboard by the address that a server printed; gives the status. */
async function setUp({ url, stdout }: Pick<Server, 'url' | 'stdout'>): Promise<number> {
  const token = matched(stdout, /\/set-up#(\S+)$/m);
  const response = await fetch(`${url}/api/set-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token, name: 'Ada', email: 'ada@example.org', password: 'a long passphrase' }),
  });
  return response.status;
}

test('each start prints an address that makes the first owner, until there is one', async () => {
  const place = await emptyPlace();
  const first = await place.serve(['--log-level', 'trace']);
  const token = matched(first.stdout, /^ {2}http:\/\/127\.0\.0\.1:\d+\/set-up#([0-9A-Za-z]{43})$/m);
  const { stderr } = await first.stop();
  expect(stderr).not.toContain(token);
  for (const [name, bytes] of await filesOf(place.folder))
    expect(bytes.includes(token), `${name} has the address in it`).toBe(false);
  const second = await place.serve(['--public-url', 'https://stats.example.org']);
  expect(second.stdout).toMatch(/^ {2}https:\/\/stats\.example\.org\/set-up#[0-9A-Za-z]{43}$/m);
  // The address of the start before is good as well, and each of them once.
  expect(await setUp({ ...second, stdout: first.stdout })).toBe(204);
  expect(await setUp(second)).toBe(404);
  await second.stop();
  const third = await place.serve();
  expect(third.stdout).toBe(
    `caller-stats listens on ${third.url}\nDashboard: ${third.url}/\nDocumentation: ${third.url}/docs\n`,
  );
});

test('--demo loads the sample, once', async () => {
  const place = await emptyPlace();
  const server = await place.serve(['--demo']);
  expect(server.stdout).toContain(
    'A sample of real events was loaded: 30,874 read, 30,269 recorded, 605 duplicates.\n',
  );
  const { project, admin } = firstRunOf(server);
  expect(project).toBe('demo');
  const { body } = await clientOf(server, project, admin).count();
  expect(body).toEqual(expected.ranges[0]?.counts);
  await server.stop();
  const again = await place.serve(['--demo']);
  expect(again.stdout).not.toContain('sample');
  const { stderr } = await again.stop();
  expect(stderr).toMatch(/^--demo: left out, because the database has projects already/m);
  await succeed(place.run(['verify']));
});

test('nothing is made where a project is there already', async () => {
  const place = await placeWithProject();
  const server = await place.serve();
  expect(server.stdout).toMatch(LATER_START);
  await server.stop();
  expect(JSON.parse((await succeed(place.run(['key', 'list', '--json']))).stdout)).toEqual([]);
});

test('the default database is in ./data, in a folder that nobody else may read', async () => {
  const place = await emptyPlace();
  const server = await place.serve([], { env: { DATABASE_URL: '' } });
  firstRunOf(server);
  expect(await readdir(place.path('data'))).toContain('caller-stats.db');
  expect((await stat(place.path('data'))).mode & 0o077).toBe(0);
});

async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(name)] as const)));
}
