/** How a URL becomes a store on a file. */
import { existsSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { migrateStore, openStore } from '../../../src/storage/open.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { whenOver } from '../../support/cleanup.js';
import { by, projectOf } from '../../support/storage/entities.js';
import { keptFile, upgradedVersions } from '../../support/storage/kept-schemas.js';
import { temporaryFolder } from '../../support/temporary.js';

const newest = { version: NEWEST_VERSION, distributed: [], kept: null };

test('creates a missing file, and opens it if it must exist', async () => {
  const file = `${await temporaryFolder()}/store.db`;
  for (const options of [{}, { mustExist: true }, { mustExist: true, forImport: true }]) {
    const store = await openStore(`sqlite:${file}`, options);
    whenOver(() => store.close());
    expect(await store.directory.listOrganizations()).toMatchObject([
      { id: 'default', name: 'Default', createdAt: 0 },
    ]);
  }
});

test('creates a file with the newest schema', async () => {
  const folder = await temporaryFolder();
  expect(await migrateStore(`sqlite:${folder}/new.db`, { distribute: false })).toEqual({
    ...newest,
    before: 0,
  });
  expect(statSync(`${folder}/new.db`).size).toBeGreaterThan(0);
});

test.each(upgradedVersions)('backs up a file of version %i unless told not to', async (version) => {
  for (const backup of [undefined, true, false]) {
    const file = await keptFile(version);
    const kept = backup === false ? null : `${file}.version-${version}`;
    const options = { distribute: false, ...(backup === undefined ? {} : { backup }) };
    expect(await migrateStore(`sqlite:${file}`, options)).toEqual({ ...newest, before: version, kept });
    expect(existsSync(`${file}.version-${version}`)).toBe(kept !== null);
    expect(await migrateStore(`sqlite:${file}`, options)).toEqual({ ...newest, before: newest.version });
  }
});

test('reports the duration of each commit', async () => {
  const took: number[] = [];
  const commits = { now: () => 7, committed: (ms: number) => void took.push(ms) };
  const store = await openStore(`sqlite:${await temporaryFolder()}/store.db`, { commits });
  await store.directory.createProject(projectOf('docs'), by);
  await store.close();
  expect(took).toEqual([0]);
});
