import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { OLDEST_VERSION } from '../../../src/storage/sql/oldest-version.js';
import { NEWEST_VERSION } from '../../../src/storage/sqlite/migrations/index.js';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import {
  alter,
  emptyPlace,
  firstRow,
  makeKey,
  type Place,
  placeWithProject,
  placeWithSample,
  project,
  recordedIn,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';

const totals = async (place: Place) =>
  JSON.parse((await succeed(place.run(['stats', project, '--json']))).stdout) as unknown;

/** The names of the files in a place's folder. */
const filesOf = (place: Place) => readdirSync(place.folder).toSorted();

describe('backup refuses', () => {
  test.concurrent.each([
    ['an existing file', 'mine', /\/mine is there already; --replace/],
    ['the database itself', 'caller-stats.db', /is the database itself; name another file/],
    [
      'a folder that is a file',
      'mine/b',
      /mine\/b was not written: the folder .*\/mine cannot be made, or not be written to\. \(EEXIST/,
    ],
    [
      'a folder in a file',
      'mine/none/b',
      /none\/b was not written: the folder .*\/none cannot be made, or not be written to\. \(ENOTDIR/,
    ],
  ])('%s, and changes nothing', async (_what, file, message) => {
    const place = await placeWithProject();
    writeFileSync(place.path('mine'), 'mine');
    const before = filesOf(place);
    const outcome = await place.spawn(['backup', file]);
    expect(outcome).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(message) });
    expect(filesOf(place)).toEqual(before);
    expect(readFileSync(place.path('mine'), 'utf8')).toBe('mine');
  });

  test.concurrent('a database of another program', async () => {
    const place = await emptyPlace();
    alter(place, 'CREATE TABLE theirs (x)');
    const outcome = await place.run(['backup', 'b']);
    expect(outcome).toMatchObject({ status: 1, stderr: expect.stringMatching(/another program/) });
    expect(existsSync(place.path('b'))).toBe(false);
  });

  test.concurrent('a damaged database even with --replace, and keeps the existing backup', async () => {
    const place = await placeWithSample();
    await succeed(place.spawn(['backup', 'b']));
    const before = readFileSync(place.path('b'));
    const bytes = readFileSync(place.database);
    // Whole pages from the middle on.
    writeFileSync(place.database, bytes.fill(0xa5, bytes.length >> 1));
    const outcome = await place.spawn(['backup', 'b', '--replace']);
    expect(outcome).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/b was not written: .*damaged/),
    });
    expect(readFileSync(place.path('b')).equals(before)).toBe(true);
  });

  test.concurrent('PostgreSQL, naming the tools to use', async () => {
    const place = await emptyPlace();
    const [server] = inject('postgresServers');
    for (const [command, tool] of [
      ['backup', 'pg_dump'],
      ['restore', 'pg_restore'],
    ] as const) {
      const outcome = await place.run([command, 'b', '--database', server?.url ?? '']);
      expect(outcome).toMatchObject({ status: 1, stderr: expect.stringContaining(tool) });
    }
  });
});

describe('restore refuses', () => {
  const restoring = async (place: Place, ...args: string[]) => {
    const before = existsSync(place.database) ? readFileSync(place.database) : undefined;
    const files = filesOf(place);
    const outcome = await place.spawn(['restore', ...args]);
    expect(outcome).toMatchObject({ status: 1, stdout: '' });
    expect(filesOf(place)).toEqual(files);
    if (before !== undefined) expect(readFileSync(place.database).equals(before)).toBe(true);
    return outcome.stderr;
  };

  test.concurrent('to overwrite a database without --replace', async () => {
    const place = await placeWithProject();
    await succeed(place.spawn(['backup', 'b']));
    expect(await restoring(place, 'b')).toMatch(/caller-stats\.db is there already; --replace replaces it/);
  });

  test('to replace the database of a running server', async () => {
    const place = await placeWithProject();
    await succeed(place.spawn(['backup', 'b']));
    const server = await place.spawnServer();
    const { status, stderr } = await place.spawn(['restore', 'b', '--replace']);
    expect({ status, stderr }).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/is in use: stop its server/),
    });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await server.stop();
  });

  test.concurrent('a missing file', async () => {
    expect(await restoring(await placeWithProject(), 'none', '--replace')).toMatch(/There is no file .*none/);
  });

  test.concurrent('a folder, and what is read without end', async () => {
    const place = await placeWithProject();
    mkdirSync(place.path('folder'));
    expect(await restoring(place, 'folder', '--replace')).toMatch(/folder is not a file/);
    expect(await restoring(place, '/dev/zero', '--replace')).toMatch(/zero is not a file/);
  });

  test.concurrent('the database itself', async () => {
    const place = await placeWithProject();
    expect(await restoring(place, 'caller-stats.db', '--replace')).toMatch(/is the database itself/);
  });

  test.concurrent('files that are not backups of ours', async () => {
    const place = await placeWithProject();
    writeFileSync(place.path('empty'), '');
    writeFileSync(place.path('letter'), 'Dear reader, this is not a database. '.repeat(100));
    alter({ database: place.path('other') }, 'CREATE TABLE theirs (x)');
    expect(await restoring(place, 'empty', '--replace')).toMatch(/empty is empty/);
    expect(await restoring(place, 'letter', '--replace')).toMatch(/letter is not a database, or is damaged/);
    expect(await restoring(place, 'other', '--replace')).toMatch(/another program/);
  });

  test.concurrent('a backup of a newer version', async () => {
    const place = await placeWithProject();
    await succeed(place.spawn(['backup', 'b']));
    alter({ database: place.path('b') }, `PRAGMA user_version = ${NEWEST_VERSION + 1}`);
    expect(await restoring(place, 'b', '--replace')).toMatch(/made by a newer caller-stats/);
  });

  test.concurrent('a backup of a version that was never released', async () => {
    const place = await placeWithProject();
    await succeed(place.spawn(['backup', 'b']));
    alter({ database: place.path('b') }, `PRAGMA user_version = ${OLDEST_VERSION - 1}`);
    expect(await restoring(place, 'b', '--replace')).toMatch(
      /Open it with commit [0-9a-f]{40} of caller-stats/,
    );
  });

  test.concurrent('a damaged backup', async () => {
    const place = await placeWithSample();
    await succeed(place.spawn(['backup', 'b']));
    const bytes = readFileSync(place.path('b'));
    writeFileSync(place.path('b'), bytes.fill(0xa5, bytes.length >> 1));
    expect(await restoring(place, 'b', '--replace')).toMatch(
      /caller-stats\.db was not written: it is damaged/,
    );
  });

  test('a database file that was copied while it was in use', async () => {
    const place = await placeWithProject();
    const server = await place.spawnServer();
    await copyFile(place.database, place.path('b'));
    await copyFile(`${place.database}-wal`, place.path('b-wal'));
    await server.stop();
    writeFileSync(place.path('b-wal'), 'x', { flag: 'a' });
    expect(await restoring(place, 'b', '--replace')).toMatch(/has a log beside it/);
  });
});

describe('a backup', () => {
  test('contains everything, only its owner can read it, and it can be restored into an empty folder', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    await succeed(place.run(['project', 'change', project, '--otlp-query', 'http.route=/ask']));
    const { stdout } = await succeed(place.spawn(['backup', 'b']));
    expect(stdout).toMatch(/^b has 30,269 queries in 1 project \([\d,]+ bytes\)\.\n$/);
    expect(statSync(place.path('b')).mode & 0o777).toBe(0o600);
    const elsewhere = await emptyPlace();
    await mkdir(elsewhere.path('new'));
    const database = `sqlite:${join(elsewhere.path('new'), 'deeper', 'a.db')}`;
    const restored = await succeed(
      elsewhere.run(['restore', place.path('b'), '--database', database, '--json']),
    );
    expect(JSON.parse(restored.stdout)).toEqual({
      projects: 1,
      queries: 30_269,
      bytes: statSync(place.path('b')).size,
      kept: null,
    });
    await succeed(elsewhere.run(['verify', '--database', database]));
    const { stdout: projects } = await succeed(elsewhere.run(['project', 'list', '--database', database]));
    expect(projects).toContain('  otlp-query http.route=/ask\n');
    const server = await elsewhere.serve(['--database', database]);
    expect((await clientOf(server, project, key).count()).body).toEqual(await totals(place));
    await server.stop();
  });

  test.concurrent('creates its folder for its owner only', async () => {
    const place = await placeWithProject();
    await succeed(place.spawn(['backup', 'new/deeper/b']));
    expect(statSync(place.path('new/deeper')).mode & 0o777).toBe(0o700);
    await succeed(place.run(['verify', '--database', `sqlite:${place.path('new/deeper/b')}`]));
  });

  test.concurrent('replaces the database, which is kept under another name', async () => {
    const place = await placeWithSample();
    await succeed(place.spawn(['backup', 'b']));
    alter(place, "UPDATE project SET name = 'Later'");
    const { stdout } = await succeed(place.spawn(['restore', 'b', '--replace', '--json']));
    const { kept } = JSON.parse(stdout) as { kept: string };
    expect(kept).toMatch(/\/caller-stats\.db\.replaced-\d{8}T\d{6}\.\d{3}Z$/);
    const name = (database: string) => firstRow({ database }, 'SELECT name FROM project')['name'];
    expect([name(place.database), name(kept)]).toEqual(['Docs', 'Later']);
    expect(statSync(place.database).mode & 0o777).toBe(0o600);
    await succeed(place.run(['verify']));
    await succeed(place.run(['verify', '--database', `sqlite:${kept}`]));
  });

  test.concurrent('can replace a damaged database without reading its log', async () => {
    const place = await placeWithSample();
    await succeed(place.spawn(['backup', 'b']));
    writeFileSync(place.database, 'no database at all '.repeat(1000));
    writeFileSync(`${place.database}-wal`, 'its log');
    const { stdout } = await succeed(place.spawn(['restore', 'b', '--replace', '--json']));
    const { kept } = JSON.parse(stdout) as { kept: string };
    expect(readFileSync(kept, 'utf8')).toMatch(/^no database at all/);
    expect(existsSync(`${place.database}-wal`)).toBe(false);
    expect(recordedIn(place)).toBe(30_269);
  });

  test.concurrent('replaces an older backup and leaves no other files', async () => {
    const place = await placeWithProject();
    await succeed(place.spawn(['backup', 'b']));
    alter(place, "UPDATE project SET name = 'Later'");
    await succeed(place.spawn(['backup', 'b', '--replace']));
    expect(firstRow({ database: place.path('b') }, 'SELECT name FROM project')).toEqual({ name: 'Later' });
    expect(filesOf(place)).toEqual(['b', 'caller-stats.db']);
  });

  test.concurrent('contains nothing that was deleted before', async () => {
    const place = await placeWithProject();
    const queries = Array.from({ length: 500 }, (_, at) => ({ id: `secret-${at}`, caller: 'web' }));
    writeFileSync(place.path('q.ndjson'), queries.map((one) => JSON.stringify(one)).join('\n'));
    await succeed(place.run(['import', 'q.ndjson', '--project', project]));
    await succeed(place.run(['project', 'delete', project, '--confirm', 'Docs']));
    await succeed(place.spawn(['backup', 'b']));
    expect(readFileSync(place.path('b')).includes('secret-')).toBe(false);
  });

  test('made during recording contains whole batches, from the first one on', async () => {
    const place = await placeWithProject();
    const key = await makeKey(place, 'recording');
    const server = await place.spawnServer();
    const batchSize = 50;
    const client = clientOf(server, project, key);
    let [sent, done] = [0, false];
    const recording = (async () => {
      while (!done) {
        const { body } = await client.record(batchOf(sent, batchSize));
        expect(body).toEqual({ recorded: batchSize, duplicates: 0 });
        sent++;
      }
    })();
    try {
      for (let turn = 0; turn < 5; turn++) {
        const acknowledged = sent;
        await succeed(place.spawn(['backup', `b${turn}`]));
        const database = place.path(`b${turn}`);
        const batches = recordedIn({ database }) / batchSize;
        expect(Number.isInteger(batches)).toBe(true);
        expect(batches).toBeGreaterThanOrEqual(acknowledged);
        const last = firstRow(
          { database },
          `SELECT count(*) AS n FROM query WHERE id LIKE 'batch-${batches - 1}-%'`,
        );
        expect(last).toEqual(batches === 0 ? { n: 0 } : { n: batchSize });
        await succeed(place.run(['verify', '--database', `sqlite:${database}`]));
      }
    } finally {
      done = true;
      await recording;
      await server.stop();
    }
    expect(recordedIn(place)).toBe(sent * batchSize);
  });
});

describe('backup --keep', () => {
  test.concurrent('refuses what is not a list of generations, and --replace', async () => {
    const place = await placeWithProject();
    const refused = await refusal(place.run(['backup', 'all', '--keep', '7x']), 2);
    expect(refused).toBe(
      'caller-stats: --keep: "7x" is not a list such as 7d,4w,12m, of days, weeks and months\n',
    );
    expect(await refusal(place.run(['backup', 'all', '--keep', '7d', '--replace']), 2)).toContain(
      '--replace:',
    );
    expect(existsSync(place.path('all'))).toBe(false);
  });

  test.concurrent('adds a backup that was restored and verified, and removes those that no generation keeps', async () => {
    const place = await placeWithSample();
    await mkdir(place.path('all'));
    const old = ['20240131T030000Z', '20240130T030000Z', '20231231T030000Z'].map(
      (one) => `caller-stats-${one}.db`,
    );
    const others = ['mine.db', 'caller-stats-20240132T030000Z.db', 'caller-stats-20240101T030000Z.db.old'];
    for (const name of [...old, ...others]) writeFileSync(place.path(`all/${name}`), 'x');
    const { stdout } = await succeed(place.run(['backup', 'all', '--keep', '1d,2m']));
    const added =
      /^(all\/caller-stats-\d{8}T\d{6}Z\.db) has .+ It was restored and verified\. Removed 2 older backups\.\n$/.exec(
        stdout,
      );
    const names = readdirSync(place.path('all')).toSorted();
    expect(names).toEqual([...others, old[0], added?.[1]?.slice(4)].toSorted());
    const again = ['--database', `sqlite:${place.path('again.db')}`];
    await succeed(place.run(['restore', added?.[1] ?? '', ...again]));
    const { stdout: counted } = await succeed(place.run(['stats', project, '--json', ...again]));
    expect(JSON.parse(counted)).toEqual(await totals(place));
  });

  test.concurrent('keeps all backups, and fails, if what it restores is not sound', async () => {
    const place = await placeWithSample();
    await mkdir(place.path('all'));
    writeFileSync(place.path('all/caller-stats-20240131T030000Z.db'), 'x');
    alter(place, 'UPDATE query_counter SET web = web + 1');
    const refused = await refusal(place.run(['backup', 'all', '--keep', '1d']), 1);
    expect(refused).toMatch(
      /was restored for a check, and is not sound: .* All older backups were kept\.\n$/,
    );
    expect(readdirSync(place.path('all'))).toContain('caller-stats-20240131T030000Z.db');
  });
});
