import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { emptyPlace, firstRow, type Place, succeed } from '../../support/cli/cli-place.js';
import { upgradedVersions, writeKept } from '../../support/storage/kept-schemas.js';

/** The names of the files in a place's folder. */
const filesOf = (place: Place) => readdirSync(place.folder).toSorted();

const versionOf = (database: string) => firstRow({ database }, 'PRAGMA user_version')['user_version'];

describe.each(upgradedVersions)('before an upgrade of version %i', (version) => {
  async function oldPlace(): Promise<Place> {
    const place = await emptyPlace();
    writeKept(place.database, version);
    return place;
  }
  const copy = `caller-stats.db.version-${version}`;

  test.concurrent('the database is copied, and restoring the copy undoes the upgrade', async () => {
    const place = await oldPlace();
    const { stdout } = await succeed(place.spawn(['migrate']));
    expect(stdout).toBe(
      `The schema was upgraded from version ${version} to ${NEWEST_VERSION}.\nA copy of the previous database is ${place.database}.version-${version}.\n`,
    );
    expect(filesOf(place)).toEqual(['caller-stats.db', copy]);
    expect((await succeed(place.spawn(['migrate']))).stdout).toBe(
      `The schema is up to date, at version ${NEWEST_VERSION}.\n`,
    );
    expect(versionOf(`${place.database}.version-${version}`)).toBe(version);
    await succeed(place.spawn(['restore', copy, '--replace']));
    expect(versionOf(place.database)).toBe(version);
  });

  test.concurrent('by any command, the database is copied', async () => {
    const place = await oldPlace();
    await succeed(place.run(['project', 'list']));
    expect(versionOf(place.database)).toBe(NEWEST_VERSION);
    expect(versionOf(`${place.database}.version-${version}`)).toBe(version);
  });

  test('by a server, the copy is logged once', async () => {
    const place = await oldPlace();
    const lines = async () => {
      const server = await place.serve();
      await server.stop();
      return (await server.ended).stderr.split('\n').filter((line) => line.includes('older version'));
    };
    const [line, ...more] = await lines();
    expect(JSON.parse(line ?? '')).toMatchObject({
      level: 40,
      copy: `${place.database}.version-${version}`,
      msg: 'the database was of an older version; a copy of it is kept',
    });
    expect([more, await lines()]).toEqual([[], []]);
  });

  test.concurrent('a copy that fails prevents the upgrade, except with --no-backup', async () => {
    const place = await oldPlace();
    await mkdir(place.path(copy));
    const outcome = await place.run(['project', 'list']);
    expect(outcome).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/not upgraded.*migrate --no-backup/),
    });
    expect(versionOf(place.database)).toBe(version);
    const { stdout } = await succeed(place.run(['migrate', '--no-backup', '--json']));
    expect(JSON.parse(stdout)).toEqual({ version: NEWEST_VERSION, distributed: [], kept: null });
  });
});

test('no copy is made of a new database', async () => {
  const place = await emptyPlace();
  await succeed(place.spawn(['project', 'create', 'Docs']));
  expect(filesOf(place)).toEqual(['caller-stats.db']);
});
