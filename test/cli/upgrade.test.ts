import { readdirSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { MIGRATIONS } from '../../src/storage/sqlite/migrations/index.js';
import { APPLICATION_ID } from '../../src/storage/sqlite/migrations/migrate.js';
import { alter, emptyPlace, firstRow, type Place, succeed } from '../support/cli/cli-place.js';

/** The names of the files in a place's folder. */
const filesOf = (place: Place) => readdirSync(place.folder).toSorted();

describe('before an upgrade', () => {
  async function oldPlace(): Promise<Place> {
    const place = await emptyPlace();
    alter(place, MIGRATIONS.slice(0, 4).join(''));
    alter(place, `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 4`);
    return place;
  }
  const versionOf = (database: string) => firstRow({ database }, 'PRAGMA user_version')['user_version'];

  test.concurrent('the database is copied, and restoring the copy undoes the upgrade', async () => {
    const place = await oldPlace();
    const { stdout } = await succeed(place.spawn(['migrate']));
    expect(stdout).toBe(
      `The schema is up to date, at version ${MIGRATIONS.length}.\nA copy of the previous database is ${place.database}.version-4.\n`,
    );
    expect(filesOf(place)).toEqual(['caller-stats.db', 'caller-stats.db.version-4']);
    expect(versionOf(`${place.database}.version-4`)).toBe(4);
    await succeed(place.spawn(['restore', 'caller-stats.db.version-4', '--replace']));
    expect(versionOf(place.database)).toBe(4);
  });

  test.concurrent('by any command, the database is copied', async () => {
    const place = await oldPlace();
    await succeed(place.run(['project', 'list']));
    expect(versionOf(place.database)).toBe(MIGRATIONS.length);
    expect(versionOf(`${place.database}.version-4`)).toBe(4);
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
      copy: `${place.database}.version-4`,
      msg: 'the database was of an older version; a copy of it is kept',
    });
    expect([more, await lines()]).toEqual([[], []]);
  });

  test.concurrent('a copy that fails prevents the upgrade, except with --no-backup', async () => {
    const place = await oldPlace();
    await mkdir(place.path('caller-stats.db.version-4'));
    const outcome = await place.run(['project', 'list']);
    expect(outcome).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/not upgraded.*migrate --no-backup/),
    });
    expect(versionOf(place.database)).toBe(4);
    const { stdout } = await succeed(place.run(['migrate', '--no-backup', '--json']));
    expect(JSON.parse(stdout)).toEqual({ version: MIGRATIONS.length, distributed: [], kept: null });
  });

  test.concurrent('no copy is made of a new database', async () => {
    const place = await emptyPlace();
    await succeed(place.spawn(['project', 'create', 'Docs']));
    expect(filesOf(place)).toEqual(['caller-stats.db']);
  });
});
