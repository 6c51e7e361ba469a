import { readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import {
  alter,
  emptyPlace,
  firstRow,
  makeKey,
  type Place,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';

/** Commands that read and commands that write. */
const commands = [['serve', '--port', '0'], ['project', 'create', 'New'], ['stats', project], ['verify']];

async function expectRefusedUntouched(place: Place, message: RegExp): Promise<void> {
  const before = await readFile(place.database);
  for (const command of commands) {
    const stderr = await refusal(place.run(command), 1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^ {4}at /m);
  }
  expect(before.equals(await readFile(place.database))).toBe(true);
}

describe('commands refuse and do not change', () => {
  test.concurrent('a file of a newer schema version', async () => {
    const place = await placeWithProject();
    alter(place, 'PRAGMA user_version = 999');
    await expectRefusedUntouched(
      place,
      /^caller-stats: \S+ has schema version 999, made by a newer caller-stats/m,
    );
    expect(firstRow(place, 'PRAGMA user_version')).toEqual({ user_version: 999 });
  });

  test.concurrent("another program's database", async () => {
    const place = await emptyPlace();
    alter(place, "CREATE TABLE songs (title TEXT); INSERT INTO songs VALUES ('x')");
    await expectRefusedUntouched(place, /^caller-stats: \S+ is a database of another program/m);
  });

  test.concurrent("another program's database that has the schema version of ours", async () => {
    const place = await emptyPlace();
    alter(place, 'CREATE TABLE songs (title TEXT); PRAGMA user_version = 1');
    await expectRefusedUntouched(place, /^caller-stats: \S+ is a database of another program/m);
  });

  test.concurrent('a file that is not a database', async () => {
    const place = await emptyPlace();
    await writeFile(place.database, 'Dear diary, '.repeat(1000));
    await expectRefusedUntouched(place, /^caller-stats: .*not a database/m);
  });
});

test.concurrent('an empty file becomes a database', async () => {
  const place = await emptyPlace();
  await writeFile(place.database, '');
  await succeed(place.run(['project', 'create', 'Docs', '--id', project]));
  await succeed(place.run(['verify']));
});

test.concurrent('a folder instead of a file is reported', async () => {
  const place = await emptyPlace();
  expect(
    await refusal(place.run(['project', 'create', 'x', '--database', `sqlite:${place.folder}`]), 1),
  ).toBe(`caller-stats: ${place.folder} is not a file.\n`);
});

test('a server whose database file is deleted refuses to record and count', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const server = await place.spawnServer(['--log-level', 'silent']);
  const client = clientOf(server, project, key);
  expect(await client.record(batchOf(0, 10))).toMatchObject({ status: 200 });
  await succeed(place.spawn(['backup', 'b']));
  const statuses = async () => [
    (await client.record(batchOf(1, 10))).status,
    (await client.count()).status,
    (await fetch(`${server.url}/readyz`)).status,
  ];
  expect(await statuses()).toEqual([200, 200, 200]);
  await rm(place.database);
  // Counting notices it within a second, and at once after a refused recording.
  expect(await statuses()).toEqual([503, 503, 503]);
  const { status, stderr } = await place.spawn(['serve', '--port', '0']);
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: expect.stringMatching(
      /caller-stats\.db is gone, but its log \S+-wal is there; .*restore a backup/,
    ),
  });
  const { stdout } = await succeed(place.spawn(['restore', 'b']));
  expect(stdout).toMatch(/^The database has 10 queries .*\nThe previous database is now \S+Z-wal\.$/m);
  // The server still has the deleted file open.
  expect(await statuses()).toEqual([503, 503, 503]);
  expect(await server.stop()).toMatchObject({ status: 0 });

  const again = clientOf(await place.serve(), project, key);
  expect(await again.record(batchOf(1, 10))).toMatchObject({ body: { recorded: 10, duplicates: 0 } });
  expect((await again.count()).body.total).toBe(20);
  await succeed(place.spawn(['verify']));
});
