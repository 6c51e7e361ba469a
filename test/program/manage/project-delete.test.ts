/** Deleting a project: refusals, what disappears at once, and what servers remove later. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/storage/open.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { jsonOf } from '../../support/cli/cli-keys.js';
import {
  firstRow,
  makeKey,
  type Place,
  placeWithProject,
  placeWithSample,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { eventually } from '../../support/postgres/nodes.js';
import { knownEvent } from '../../support/storage/ledger.js';
import { by } from '../../support/storage/store.js';

const A_QUERY = '{"id":"a","caller":"web","occurredAt":"2026-01-01T00:00:00Z"}';

/** The number of rows of queries and counters, of all projects. */
function rowsIn(place: Place): number {
  const row = firstRow(
    place,
    `SELECT (SELECT count(*) FROM query) + (SELECT count(*) FROM query_counter) + (SELECT count(*) FROM caller_counter)
       + (SELECT count(*) FROM moment) + (SELECT count(*) FROM deleted_project) AS rows`,
  );
  return Number(row['rows']);
}

/** How often the database file and its log contain a text. */
function timesOnDisk(place: Place, text: string): number {
  return [place.database, `${place.database}-wal`]
    .filter((file) => existsSync(file))
    .reduce((sum, file) => sum + readFileSync(file).toString('latin1').split(text).length - 1, 0);
}

test.concurrent('project delete requires the exact name, and otherwise deletes nothing', async () => {
  const place = await placeWithSample();
  const rows = rowsIn(place);
  const unsaid = await place.run(['project', 'delete', project]);
  expect(unsaid).toMatchObject({ status: 2, stdout: '' });
  expect(unsaid.stderr).toContain('--confirm');
  for (const name of ['docs', 'Doc', 'Docs ', '']) {
    expect(await place.run(['project', 'delete', project, '--confirm', name]), name).toEqual({
      status: 2,
      signal: null,
      stdout: '',
      stderr:
        'caller-stats: --confirm: is not the name of the project docs, so nothing was deleted; project list shows its name\n',
    });
  }
  const missing = await place.run(['project', 'delete', 'none', '--confirm', 'Docs']);
  expect(missing).toMatchObject({ status: 1, stderr: 'caller-stats: There is no project none.\n' });
  const theirs = ['project', 'delete', project, '--confirm', 'Docs', '--organization', 'acme'];
  expect(await place.run(theirs)).toMatchObject({ status: 1, stdout: '' });
  expect(rowsIn(place)).toBe(rows);
});

test('project delete removes the project, its recording keys and all its rows while a server runs', async () => {
  const place = await placeWithSample();
  await succeed(place.run(['project', 'create', 'Blog', '--id', 'blog']));
  const [admin, recording] = [await makeKey(place, 'admin'), await makeKey(place, 'recording')];
  const server = await place.serve();
  const [reader, writer] = [clientOf(server, project, admin), clientOf(server, project, recording)];
  const blog = clientOf(server, 'blog', admin);
  expect(await writer.record([{ id: 'a', caller: 'web' }])).toMatchObject({ status: 200 });
  expect(await blog.record([{ id: 'a', caller: 'web' }])).toMatchObject({ status: 200 });
  const { stdout, stderr } = await succeed(place.run(['project', 'delete', project, '--confirm', 'Docs']));
  expect({ stdout, stderr }).toEqual({ stdout: 'deleted docs (Docs)\n', stderr: '' });
  expect(await reader.count()).toEqual({ status: 404, body: { error: 'There is no such project.' } });
  expect(await reader.record([{ id: 'b', caller: 'web' }])).toMatchObject({ status: 404 });
  expect(await writer.record([{ id: 'b', caller: 'web' }])).toEqual({
    status: 401,
    body: { error: 'The API key is unknown.' },
  });
  expect(await blog.count()).toMatchObject({ status: 200, body: { total: 1 } });
  // A row, a quarter of an hour that keeps it, and counters of wider levels.
  expect(rowsIn(place)).toBe(1 + 1 + 4);
  expect(await jsonOf(place, ['project', 'list'])).toMatchObject([{ id: 'blog' }]);
  expect((await jsonOf<{ name: string }[]>(place, ['key', 'list'])).map(({ name }) => name)).toEqual([
    'A admin key',
  ]);
  expect(await jsonOf(place, ['audit', '--action', 'project.delete'])).toMatchObject([
    { actor: 'command line', targetId: project, detail: 'Docs' },
  ]);
  expect((await succeed(place.run(['verify']))).stdout).toMatch(/^1 query in 1 project: /);
  await succeed(place.run(['project', 'create', 'Docs again', '--id', project]));
  expect(await reader.count()).toMatchObject({ status: 200, body: { total: 0 } });
  expect(await writer.count()).toMatchObject({ status: 401 });
  expect(await jsonOf(place, ['project', 'delete', project, '--confirm', 'Docs again'])).toMatchObject({
    id: project,
    name: 'Docs again',
  });
});

test('after a deletion, neither the file nor its log contains ids of the deleted queries', async () => {
  const place = await placeWithProject();
  await succeed(place.run(['project', 'create', 'Blog', '--id', 'blog']));
  const store = await openStore(`sqlite:${place.database}`);
  onTestFinished(() => store.close());
  for (let at = 0; at < 20; at++) {
    const batch = (word: string) =>
      Array.from({ length: 100 }, (_, number) => ({ ...knownEvent(number), id: `${word} ${at} ${number}` }));
    await store.counts.record(project, batch('of-docs'));
    await store.counts.record('blog', batch('of-blog'));
  }
  expect(timesOnDisk(place, 'of-docs')).toBeGreaterThan(2000);
  await store.directory.deleteProject('default', project, by);
  for (let done = false; !done; ) ({ done } = await store.maintenance.purgeDeleted(300));
  expect(timesOnDisk(place, 'of-docs')).toBe(0);
  expect(timesOnDisk(place, 'of-blog')).toBeGreaterThanOrEqual(2000);
});

test('the next server completes an interrupted deletion', async () => {
  const place = await placeWithSample();
  const store = await openStore(`sqlite:${place.database}`);
  await store.directory.deleteProject('default', project, by);
  expect(await store.maintenance.purgeDeleted(100)).toEqual({ removed: 100, done: false });
  await store.close();
  const before = rowsIn(place);
  expect(before).toBeGreaterThan(30_000);
  const killed = await place.spawnServer();
  await eventually(async () => (rowsIn(place) < before ? true : undefined));
  await killed.stop('SIGKILL');
  const server = await place.serve();
  await eventually(async () => (rowsIn(place) === 0 ? true : undefined));
  const { stderr } = await server.stop();
  expect(stderr).not.toMatch(/"level":[456]0/);
});

test('compact refuses what is in use or is not a file, and gives back what a deletion has left', async () => {
  const place = await placeWithSample();
  // In processes of their own, because this one would keep the file open.
  const server = await place.spawnServer();
  const size = () => statSync(place.database).size;
  await succeed(place.spawn(['project', 'create', 'Blog', '--id', 'blog']));
  await succeed(place.spawn(['import', '-', '--project', 'blog'], { input: A_QUERY }));
  await succeed(place.spawn(['project', 'delete', project, '--confirm', 'Docs']));
  expect(await refusal(place.spawn(['compact']), 1)).toMatch(/is in use: stop its server, and compact again/);
  for (const [url, problem] of [
    ['postgres://x@localhost/x', /is a database of PostgreSQL: .*VACUUM FULL/],
    [`sqlite:${place.path('none.db')}`, /There is no database/],
  ] as const)
    expect(await refusal(place.run(['compact', '--database', url]), 1)).toMatch(problem);
  await server.stop('SIGTERM');
  const bytesBefore = size();
  const { stdout } = await succeed(place.spawn(['compact', '--json']));
  expect(JSON.parse(stdout)).toEqual({ bytesBefore, bytes: size() });
  expect(size()).toBeLessThan(bytesBefore / 4);
  expect((await succeed(place.spawn(['compact']))).stdout).toMatch(/^The database has [\d,]+ bytes, 0 fewer/);
  expect((await succeed(place.run(['verify']))).stdout).toMatch(/^1 query in 1 project: /);
});
