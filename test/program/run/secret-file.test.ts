/** Where a server has the secret that signs sessions and encrypts second factors. */
import { chmod, chown, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { findSecrets } from '../../../src/cli/server/secret-file.js';
import { readServerSettings } from '../../../src/cli/settings/server-settings.js';
import { openStore } from '../../../src/storage/open.js';
import { whenOver } from '../../support/cleanup.js';
import { emptyPlace, placeWithProject, succeed } from '../../support/cli/cli-place.js';

const [mine, theirs] = ['m'.repeat(32), 't'.repeat(40)];

/** A store in a new folder, and a function that finds its secrets with these settings. */
async function newStore() {
  const place = await emptyPlace();
  const file = `${place.database}.secret`;
  const store = await openStore(`sqlite:${place.database}`);
  whenOver(() => store.close());
  const find = (env: Readonly<Record<string, string>> = {}) =>
    findSecrets(readServerSettings({}, { DATABASE_URL: `sqlite:${place.database}`, ...env }), store);
  return { place, file, store, find };
}

test.each([
  ['a short line', `${mine}\nshort\n`, /has a line that is shorter than 32/],
  ['a folder', undefined, /is not a file/],
])('a file with %s is refused without being shown', async (_what, text, message) => {
  const { place, file, find } = await newStore();
  if (text !== undefined) await writeFile(file, text, { mode: 0o600 });
  const setting = text === undefined ? { CALLER_STATS_SECRET_FILE: dirname(place.database) } : {};
  const error = await find(setting).catch((refused: Error) => refused);
  expect(error).toMatchObject({ code: 'invalid', message: expect.stringMatching(message) });
  expect(String(error)).not.toContain(mine);
});

test.each([
  ['an empty file', (file: string) => writeFile(file, '', { mode: 0o600 })],
  ['a link to nothing', (file: string) => symlink(`${file}.nowhere`, file)],
])('%s in place of the secret is refused, and takes none from the database', async (_what, put) => {
  const { file, store, find } = await newStore();
  await store.directory.keepSecret('sessions', mine);
  await put(file);
  for (let start = 0; start < 2; start++)
    await expect(find()).rejects.toThrow(/is empty, or a link to nothing; remove it/);
  expect(await store.directory.findSecret('sessions')).toBe(mine);
});

test('PostgreSQL needs the file that is named, and has a secret itself without one', async () => {
  const { store, place } = await newStore();
  const settings = (env: Readonly<Record<string, string>>) =>
    readServerSettings({}, { DATABASE_URL: 'postgres://user@127.0.0.1/none', ...env });
  expect(await findSecrets(settings({}), store)).toEqual([]);
  const named = settings({ CALLER_STATS_SECRET_FILE: `${place.database}.none` });
  await expect(findSecrets(named, store)).rejects.toThrow(/is missing or empty/);
});

test('settings come before files, of which they create none', async () => {
  const { place, find } = await newStore();
  expect(await find({ CALLER_STATS_SECRET: `${mine},${theirs}, ${'o'.repeat(32)}` })).toEqual([
    mine,
    theirs,
    'o'.repeat(32),
  ]);
  expect((await readdir(dirname(place.database))).filter((name) => name.includes('secret'))).toEqual([]);
  expect(() => readServerSettings({}, { CALLER_STATS_SECRET: `${mine},short` })).toThrow();
});

test('a new secret is created once, in a file that only its owner reads', async () => {
  const { file, find, place } = await newStore();
  // They begin at different moments, so that some look for the file before others create it, and create theirs later.
  const later = async (turns: number) => {
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    return find();
  };
  const found = await Promise.all(Array.from({ length: 32 }, (_, at) => later(at)));
  expect(new Set(found.map((secrets) => secrets.join())).size).toBe(1);
  expect(found[0]?.[0]).toMatch(/^[0-9a-f]{64}$/);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await find()).toEqual(found[0]);
  const names = (await readdir(dirname(place.database))).filter((name) => name.includes('secret'));
  expect(names).toEqual([file.slice(dirname(file).length + 1)]);
  await writeFile(file, `${mine}\n${await readFile(file, 'utf8')}`);
  expect(await find()).toEqual([mine, ...(found[0] ?? [])]);
  for (const mode of [0o644, 0o640, 0o602]) {
    await chmod(file, mode);
    await expect(find()).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/chmod 600/),
    });
  }
  // Who mounts a file that a setting names chooses its mode.
  expect(await find({ CALLER_STATS_SECRET_FILE: file })).toHaveLength(2);
});

test('the secret of an earlier version moves from the database into the file', async () => {
  const { file, store, find } = await newStore();
  await store.directory.keepSecret('sessions', theirs);
  expect(await find()).toEqual([theirs]);
  expect([await store.directory.findSecret('sessions'), await readFile(file, 'utf8')]).toEqual([
    undefined,
    `${theirs}\n`,
  ]);
  // A restored backup of an earlier version.
  await store.directory.keepSecret('sessions', mine);
  expect(await find()).toEqual([theirs, mine]);
  expect(await store.directory.findSecret('sessions')).toBeUndefined();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('a file that somebody else could have made is not taken over, also not with a secret of an earlier version', async () => {
  const { file, store, find } = await newStore();
  await writeFile(file, `${mine}\n`, { mode: 0o600 });
  // Only root gives files away.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(file, 4711, 4711);
  else await chmod(file, 0o644);
  const message = isRoot ? /belongs to the user 4711, and the database to 0/ : /chmod 600/;
  for (const stored of [undefined, theirs]) {
    if (stored !== undefined) await store.directory.keepSecret('sessions', stored);
    await expect(find()).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(message) });
    expect(await readFile(file, 'utf8')).toBe(`${mine}\n`);
  }
  expect(await store.directory.findSecret('sessions')).toBe(theirs);
});

test('a server moves the secret when it starts, and backups do not contain it', async () => {
  const place = await placeWithProject();
  const store = await openStore(`sqlite:${place.database}`);
  await store.directory.keepSecret('sessions', theirs);
  await store.close();
  const server = await place.spawnServer();
  await server.stop();
  expect(await readFile(`${place.database}.secret`, 'utf8')).toBe(`${theirs}\n`);
  await succeed(place.run(['backup', `${place.database}.backup`]));
  expect((await readFile(`${place.database}.backup`)).includes(theirs)).toBe(false);
  await writeFile(`${place.database}.secret`, 'short\n');
  const refused = await place.run(['serve', '--port', '0']);
  expect([refused.status, refused.stderr]).toEqual([1, expect.stringMatching(/has a line that is shorter/)]);
});
