/** Commands that another user runs than the user of the service, who owns the database and its folder. */
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { PROGRAM, runCommand } from '../../support/cli/cli.js';
import {
  emptyPlace,
  makeKey,
  type Place,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { upgradedVersions, writeKept } from '../../support/storage/kept-schemas.js';

const isRoot = process.getuid?.() === 0;
/** Only root can give a file to others. */
const service = isRoot ? 1234 : process.getuid?.();

/** The files of a place that the service could not read. */
function foreignFiles({ folder, path }: Place): readonly string[] {
  return readdirSync(folder).filter((name) => statSync(path(name)).uid !== service);
}

async function placeOfService(): Promise<Place> {
  const place = await emptyPlace();
  if (isRoot) chownSync(place.folder, 1234, 1234);
  return place;
}

/** Runs a command that must fail, without the power of root to read and write everything. */
function refusePowerless({ folder }: Place, args: readonly string[]): Promise<string> {
  const powerless = isRoot ? ['setpriv', '--inh-caps=-all', '--bounding-set=-all'] : [];
  const [command, ...rest] = [...powerless, ...PROGRAM, ...args];
  return refusal(runCommand(command ?? '', rest, { cwd: folder }), 1);
}

test.each([
  ['a schema', ['migrate']],
  ['a project', ['project', 'create', 'Docs']],
])('%s that root makes is of the user of the service, who owns the folder', async (_what, args) => {
  const place = await placeOfService();
  await succeed(place.spawn(args));
  expect(readdirSync(place.folder)).toEqual(['caller-stats.db']);
  expect(foreignFiles(place)).toEqual([]);
});

test('the secret, the first keys and new links that root makes are of the user of the service', async () => {
  const place = await placeOfService();
  for (const _start of ['first', 'later']) {
    const server = await place.spawnServer([], { env: { CALLER_STATS_FIRST_RUN_FILE: place.path('keys') } });
    await server.stop();
    expect(readdirSync(place.folder).toSorted()).toEqual([
      'caller-stats.db',
      'caller-stats.db.secret',
      'keys',
    ]);
    expect(foreignFiles(place)).toEqual([]);
  }
});

test('the copy that an upgrade by root makes is of the user of the service', async () => {
  const place = await placeOfService();
  writeKept(place.database, upgradedVersions[0] ?? 0);
  if (isRoot) chownSync(place.database, 1234, 1234);
  await succeed(place.spawn(['migrate']));
  expect(readdirSync(place.folder)).toHaveLength(2);
  expect(foreignFiles(place)).toEqual([]);
});

test('who may not look into a folder reads what to do, and not that nothing is there', async () => {
  const place = await placeWithProject();
  await makeKey(place, 'admin');
  await succeed(place.spawn(['backup', 'backup.db']));
  const home = await emptyPlace();
  const run = (...args: readonly string[]) => refusePowerless(home, args);
  chmodSync(place.folder, 0);
  onTestFinished(() => chmodSync(place.folder, 0o700));
  const advice = 'cannot be looked for: run the command with sudo, or as the user of the service.';
  const database = ['--database', `sqlite:${place.database}`];
  for (const args of [['stats', 'docs'], ['verify'], ['key', 'list'], ['backup', 'copy.db'], ['compact']])
    expect(await run(...args, ...database)).toContain(`${place.database} ${advice}`);
  expect(await run('restore', place.path('backup.db'), '--database', `sqlite:${home.database}`)).toContain(
    `${place.path('backup.db')} ${advice}`,
  );
  expect(readdirSync(home.folder)).toEqual([]);
  // The default database of a folder.
  mkdirSync(home.path('data'), { mode: 0 });
  expect(await run('verify')).toContain(`${home.path('data/caller-stats.db')} ${advice}`);
});

test.each([['backup', 'copy.db'], ['compact'], ['verify'], ['stats', project]])(
  '%s says that the database is read-only',
  async (...args) => {
    const place = await placeWithProject();
    const home = await emptyPlace();
    chmodSync(place.database, 0o400);
    chmodSync(place.folder, 0o500);
    onTestFinished(() => chmodSync(place.folder, 0o700));
    const refused = await refusePowerless(home, [...args, '--database', `sqlite:${place.database}`]);
    expect(refused).toMatch(/^caller-stats: The database cannot be used now: it is read-only\. .*\n$/);
  },
);
