import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, readdir, readFile, rm, stat } from 'node:fs/promises';
import { PassThrough } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createFirstRun } from '../../../src/app/first-run.js';
import { openPrivateOutput } from '../../../src/cli/server/private-output.js';
import type { Counts } from '../../../src/domain/counting/counts.js';
import { ZONE_DATA_ORIGIN } from '../../../src/domain/time/time-zone.js';
import { openStore } from '../../../src/storage/open.js';
import { whenOver } from '../../support/cleanup.js';
import {
  firstRunOf,
  LATER_START,
  matched,
  programInShell,
  runCommand,
  type Server,
  startCommand,
} from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { emptyPlace, succeed } from '../../support/cli/cli-place.js';
import { sampleCounts } from '../../support/sample.js';
import { root } from '../../tidy/sources.js';

const timeZones = `Time zones: ${ZONE_DATA_ORIGIN}\n`;

/** The curl command that is printed below a title. */
function curlAfter(stdout: string, title: string): string {
  return matched(stdout, new RegExp(`^${title}\n\n((?:  .+\n)+)`, 'm'));
}

test('the first start creates a project and keys in ./data, and its curl commands work as printed', async () => {
  const place = await emptyPlace();
  const server = await place.spawnServer([], { env: { DATABASE_URL: '' } });
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
  expect(await readdir(place.path('data'))).toContain('caller-stats.db');
  expect((await stat(place.path('data'))).mode & 0o077).toBe(0);
  // Nobody is a member before the set-up link is opened.
  const members = await succeed(place.run(['member', 'list'], { env: { DATABASE_URL: '' } }));
  expect(members.stdout).toBe('E-MAIL  ROLE  SINCE\n');
});

/** Sets up the dashboard with the address that a server printed. Returns the status. */
async function setUp({ url, stdout }: Pick<Server, 'url' | 'stdout'>, origin: string): Promise<number> {
  const token = matched(stdout, /\/set-up#(\S+)$/m);
  const response = await fetch(`${url}/api/set-up`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ token, name: 'Ada', email: 'ada@example.org', password: 'a long passphrase' }),
  });
  return response.status;
}

test('keys are printed once, set-up addresses until there is an owner, and neither is stored', async () => {
  const place = await emptyPlace();
  const first = await place.serve(['--log-level', 'trace']);
  const { project, admin, recording } = firstRunOf(first);
  const token = matched(first.stdout, /^ {2}http:\/\/127\.0\.0\.1:\d+\/set-up#([0-9A-Za-z]{43})$/m);
  expect(await clientOf(first, project, admin).count()).toMatchObject({ status: 200 });
  const whileRunning = await filesOf(place.folder);
  const { status, stderr } = await first.stop();
  expect(status).toBe(0);
  const afterwards = await filesOf(place.folder);
  expect(afterwards.size).toBeGreaterThan(0);
  for (const secret of [admin, recording, token]) {
    expect(stderr).not.toContain(secret);
    for (const [name, bytes] of [...whileRunning, ...afterwards])
      expect(bytes.includes(secret), `a secret is in ${name}`).toBe(false);
  }

  const publicUrl = 'https://stats.example.org';
  const second = await place.serve(['--public-url', publicUrl]);
  expect(second.stdout).toMatch(LATER_START);
  expect(second.stdout).toMatch(/^ {2}https:\/\/stats\.example\.org\/set-up#[0-9A-Za-z]{43}$/m);
  expect(await clientOf(second, project, admin).count()).toMatchObject({ status: 200 });
  // The link of each start ends those of earlier ones.
  expect(await setUp({ ...second, stdout: first.stdout }, publicUrl)).toBe(404);
  expect(await setUp(second, publicUrl)).toBe(204);
  expect(await setUp(second, publicUrl)).toBe(404);
  await second.stop();
  const third = await place.serve();
  expect(third.stdout).toBe(
    `caller-stats listens on ${third.url}\n${timeZones}Dashboard: ${third.url}/\nDocumentation: ${third.url}/docs\n`,
  );
});

test('--demo creates sample projects at the first start only', async () => {
  const place = await emptyPlace();
  const startedAt = new Date().toISOString();
  const server = await place.serve(['--demo']);
  expect(server.stdout).toContain(
    'A sample of real events was loaded: 30,874 read, 30,269 recorded, 605 duplicates.\n' +
      'Sample traffic of an assistant, up to now, is in the project assistant-demo.\n',
  );
  const { project, admin } = firstRunOf(server);
  expect(project).toBe('demo');
  const { body } = await clientOf(server, project, admin).count();
  expect(body).toEqual(sampleCounts);
  const traffic = clientOf(server, 'assistant-demo', admin);
  const counts = (await traffic.count()).body as Counts;
  for (const type of ['web', 'api', 'other'] as const) expect(counts[type]).toBeGreaterThan(1000);
  expect((await traffic.count({ dateFrom: startedAt })).body).toMatchObject({ total: 1 });
  await server.stop();
  const again = await place.serve(['--demo']);
  expect(again.stdout).not.toMatch(/sample/i);
  expect((await clientOf(again, 'assistant-demo', admin).count()).body).toEqual(counts);
  const { stderr } = await again.stop();
  expect(stderr).toMatch(/^--demo: left out, because the database has projects already/m);
  await succeed(place.run(['verify']));
});

/** A server as service managers start it: no terminal shows its output. */
const kept = { env: { CALLER_STATS_FIRST_RUN_FILE: 'none' } };

test('a file that cannot be written is refused before the server is ready', async () => {
  const place = await emptyPlace();
  const env = { CALLER_STATS_FIRST_RUN_FILE: place.path('no/such/folder') };
  const { status, stderr } = await place.run(['serve', '--port', '0'], { env });
  expect(status).toBe(1);
  expect((await succeed(place.run(['key', 'list']))).stdout).not.toContain('First');
  expect(stderr).toMatch(
    /The file for the first keys \S+ cannot be written; set CALLER_STATS_FIRST_RUN_FILE/,
  );
});

test('without a terminal, keys and links are in a file that only its owner reads', async () => {
  const place = await emptyPlace();
  const file = `${place.database}.first-run`;
  const first = await place.serve([], kept);
  const { project, admin } = firstRunOf({ stdout: await readFile(file, 'utf8') });
  expect(await clientOf(first, project, admin).count()).toMatchObject({ status: 200 });
  const says = (what: string) =>
    `${what}: in the file ${file}, which only its owner can read. Delete it when you have read it.\n`;
  expect(first.stdout).toBe(
    `caller-stats listens on ${first.url}\n${timeZones}${says('The first keys')}${says('The link that sets up the dashboard')}` +
      `Documentation: ${first.url}/docs\n`,
  );
  await first.stop();
  await chmod(file, 0o644);
  const second = await place.serve([], kept);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const text = await readFile(file, 'utf8');
  expect(firstRunOf({ stdout: text }).admin).toBe(admin);
  const links = [...text.matchAll(/^ {2}\S+\/set-up#\S+$/gm)].map(([stdout]) => ({ ...second, stdout }));
  // The one of the first start no longer works, and is gone.
  expect(await Promise.all(links.map((link) => setUp(link, second.url)))).toEqual([204]);
  expect(await readdir(place.folder)).not.toContain('caller-stats.db.first-run.new');
  await rm(file);
  await second.stop();
  await place.serve([], kept);
  expect(existsSync(file)).toBe(false);
});

test('without a terminal and a file, nothing is created, and the commands that do it are printed', async () => {
  const operator = openPrivateOutput(
    { firstRunFile: null, database: 'postgres://user@127.0.0.1/none' },
    { stdout: new PassThrough(), stdoutIsTerminal: false },
  );
  expect(operator).toBeUndefined();
  const place = await emptyPlace();
  const store = await openStore(`sqlite:${place.database}`);
  whenOver(() => store.close());
  const lines: string[] = [];
  const firstRun = createFirstRun(
    store,
    { ...{ url: 'http://here', pagesUrl: 'http://here', keyPrefix: 'cs' }, keyLifeMax: null, demo: false },
    {
      clock: { now: () => 1 },
      randomInt,
      packageFolder: pathToFileURL(`${root}/`),
      print: (line) => lines.push(line),
      warn: (line) => lines.push(line),
      operator,
    },
  );
  await firstRun();
  expect(lines.filter((line) => line.startsWith('  '))).toEqual([
    '  caller-stats project create NAME',
    '  caller-stats key create --name NAME',
    '  caller-stats member invite EMAIL --role owner',
  ]);
  expect([await store.directory.listKeys('default'), await store.directory.listProjects('default')]).toEqual([
    [],
    [],
  ]);
});

test('on a terminal, keys and links are printed, and no file has them', async () => {
  const place = await emptyPlace();
  const command = `${programInShell} serve --port 0 --log-level silent`;
  const running = startCommand('script', ['-qec', command, '/dev/null'], {
    env: { ...place.env, ...kept.env },
    cwd: place.folder,
  });
  const stdout = (await running.printed(/^Documentation: /m)).replaceAll('\r', '');
  expect(firstRunOf({ stdout }).admin).toMatch(/^cs_admin_/);
  expect(stdout).toMatch(/\/set-up#\S+$/m);
  expect((await readdir(place.folder)).filter((name) => name.includes('first-run'))).toEqual([]);
});

async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`);
  return new Map(await Promise.all(names.map(async (name) => [name, await readFile(name)] as const)));
}
