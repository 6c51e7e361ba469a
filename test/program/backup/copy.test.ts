import { existsSync } from 'node:fs';
import { link, symlink } from 'node:fs/promises';
import { describe, expect, inject, test } from 'vitest';
import { programInShell, runCommand } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import {
  emptyPlace,
  makeKey,
  type Place,
  placeWithProject,
  placeWithSample,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { at, copy, directoryOf, opened, queriesIn, type Reported } from '../../support/cli/copy.js';
import { expected } from '../../support/sample.js';
import { notificationOf } from '../../support/storage/notifications.js';
import { by, newSchemaIn, projectOf } from '../../support/storage/store.js';

const servers = inject('postgresServers');
const [server] = servers;
if (server === undefined) throw new Error('no PostgreSQL server was started');

/** Ids that stores keep in different forms, or that a copy could confuse. */
const oddIds = [
  '0190a8b2-7c3e-7d4f-8a5b-6c7d8e9f0a1b',
  '0190A8B2-7C3E-7D4F-8A5B-6C7D8E9F0A1B',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '00000000-0000-0000-0000-000000000000',
  '0190a8b27c3e7d4f8a5b6c7d8e9f0a1b',
  'sixteen bytes...',
  'seventeen bytes..',
  ...['a', 'A', ' ', 'null', 'NULL', '\\', '"', "'", '{a,b}', 'two\nlines', '\u0001', 'é', 'e\u0301'],
  '🎉'.repeat(128),
];

/** The sample in `docs`, odd ids in `odd`, and no queries in `empty`. */
async function fullPlace(): Promise<Place> {
  const place = await placeWithSample();
  for (const id of ['odd', 'empty'])
    await succeed(place.run(['project', 'create', `The ${id} one`, '--id', id]));
  await succeed(place.run(['organization', 'change', 'default', '--second-factor', 'required']));
  await succeed(place.run(['project', 'change', 'odd', '--otlp-query', 'default;a=é', '--otlp-id', 'span']));
  const callers = ['web', 'api', 'slack', 'null'];
  const times = ['0000-01-01T00:00:00Z', '1969-12-31T23:59:59.999Z', '2024-02-29T12:00:00.001Z'];
  const lines = oddIds.map((id, index) =>
    JSON.stringify({ id, caller: callers[index % 4], occurredAt: times[index % 3] }),
  );
  await succeed(place.run(['import', '-', '--project', 'odd'], { input: lines.join('\n') }));
  return place;
}

const fileUrl = (place: Place, name: string) => `sqlite:${place.path(name)}`;

describe('copy refuses as wrong usage', () => {
  const usageError = (place: Place, args: string[], env = {}) =>
    refusal(place.spawn(['copy', ...args], { env }), 2);

  test.concurrent('a missing side', async () => {
    expect(await usageError(await emptyPlace(), [])).toContain("option '--from <url>' not specified");
  });

  test.concurrent('invalid URLs, reporting both without their passwords', async () => {
    const from = ['--from', 'postgres://user:hunter2@host:port/db'];
    const said = await usageError(await emptyPlace(), [...from, '--to', 'mysql://user:hunter2@host/db']);
    expect(said).toMatch(/^caller-stats: --from: its value has a port.*\n.*--to: its value has/);
    expect(said).not.toContain('hunter2');
  });

  test.concurrent('the same file by another path', async () => {
    const place = await placeWithProject();
    await symlink(place.database, place.path('symbolic.db'));
    await link(place.database, place.path('hard.db'));
    for (const other of [place.database, './caller-stats.db', 'symbolic.db', 'hard.db']) {
      const said = await usageError(place, ['--from', `sqlite:${place.database}`, '--to', `sqlite:${other}`]);
      expect(said).toBe('caller-stats: --to: is the same database as --from; name the one to copy into\n');
    }
  });

  test.concurrent.each([
    ['postgres://one@host.example:5432/db', 'postgresql://other:hunter2@HOST.example/db?sslmode=require'],
    ['postgres:///', 'postgres://host.example:5432/db?schema=caller_stats'],
  ])('the same PostgreSQL schema, %s and %s', async (from, to) => {
    const env = { PGHOST: 'host.example', PGDATABASE: 'db' };
    const said = await usageError(await emptyPlace(), ['--from', from, '--to', to], env);
    expect(said).toBe('caller-stats: --to: is the same database as --from; name the one to copy into\n');
  });
});

describe('copy fails, naming the side, for', () => {
  const failure = (place: Place, from: string, to: string) => refusal(copy(place, from, to), 1);

  test('a missing source, and does not create the target', async () => {
    const place = await emptyPlace();
    const said = await failure(place, fileUrl(place, 'none.db'), fileUrl(place, 'new.db'));
    expect(said).toBe(
      `caller-stats: source ${place.path('none.db')}: There is no database ${place.path('none.db')}; serve or project create makes one.\n`,
    );
    const inSchema = await failure(place, newSchemaIn(server.url), fileUrl(place, 'new.db'));
    expect(inSchema).toMatch(
      /^caller-stats: source 127\.0\.0\.1:\d+\/postgres, schema test_\w+: There is no/,
    );
    expect(existsSync(place.path('new.db'))).toBe(false);
  });

  test('a side that cannot be reached, without printing its password', async () => {
    const place = await placeWithProject();
    const away = 'postgres://user:hunter2@127.0.0.1:1/db';
    const own = place.env['DATABASE_URL'] ?? '';
    const said = [await failure(place, away, own), await failure(place, own, away)];
    expect(said[0]).toMatch(
      /^caller-stats: source 127\.0\.0\.1:1\/db, schema caller_stats: The database cannot/,
    );
    expect(said[1]).toMatch(
      /^caller-stats: target 127\.0\.0\.1:1\/db, schema caller_stats: The database cannot/,
    );
    expect(said.join()).not.toContain('hunter2');
  });

  test('a project id that belongs to another organization in the target', async () => {
    const place = await placeWithSample();
    const to = newSchemaIn(server.url);
    const target = await opened(to);
    await target.directory.createOrganization({ id: 'others', name: 'Others', createdAt: 1 }, by);
    await target.directory.createProject(projectOf(project, { organizationId: 'others' }), by);
    const said = await failure(place, `sqlite:${place.database}`, to);
    expect(said).toMatch(
      /^caller-stats: The project docs belongs to the organization default, but in the target 127/,
    );
    expect(await queriesIn(target, project)).toEqual([]);
  });
});

describe.each(servers)('a copy to PostgreSQL $version and back', ({ url }) => {
  test('has everything, and its keys work', async () => {
    const place = await fullPlace();
    const from = `sqlite:${place.database}`;
    const key = await makeKey(place, 'admin');
    await makeKey(place, 'recording');
    const [to, back] = [newSchemaIn(url), fileUrl(place, 'back.db')];

    const there = await succeed(copy(place, from, to));
    expect(there).toMatchObject({ stderr: '' });
    expect(there.stdout).toBe(
      [
        'PROJECT  RECORDED  DUPLICATES  IMPORTED  SOURCE  TARGET',
        'docs     30,269    0           0         30,269  30,269',
        'odd      21        0           0         21      21',
        'empty    0         0           0         0       0',
        '1 organization, 3 projects, 2 keys (2 new)',
        'every project has the same totals on both sides',
        '',
      ].join('\n'),
    );
    await succeed(place.run(['verify'], at(to)));
    const serving = await place.serve([], at(to));
    const client = clientOf(serving, project, key);
    for (const { query, counts } of expected.ranges) {
      expect({ query, ...(await client.count({ ...query })) }).toEqual({ query, status: 200, body: counts });
    }
    expect(await serving.stop()).toMatchObject({ status: 0 });

    const returned = await succeed(copy(place, to, back, ['--json']));
    expect(JSON.parse(returned.stdout)).toMatchObject({
      organizations: { copied: 0, present: 1 },
      keys: { copied: 2, present: 0 },
    });
    await succeed(place.run(['verify'], at(back)));
    const [source, target, again] = [await opened(from), await opened(to), await opened(back)];
    // The key was used to read the counts.
    expect(await directoryOf(again)).toEqual(await directoryOf(target));
    const { projects, organizations } = await directoryOf(source);
    expect(projects).toMatchObject([{}, { otlpQuery: 'default;a=é', otlpId: 'span' }, { otlpId: null }]);
    expect(await directoryOf(again)).toMatchObject({ projects, organizations });
    for (const { id } of projects) {
      const queries = await queriesIn(source, id);
      expect(await queriesIn(target, id)).toEqual(queries);
      expect(await queriesIn(again, id)).toEqual(queries);
    }
  });
});

test('a second run copies nothing', async () => {
  const place = await placeWithSample();
  const [from, to] = [`sqlite:${place.database}`, fileUrl(place, 'other.db')];
  await makeKey(place, 'admin');
  await succeed(copy(place, from, to));
  const { stdout } = await succeed(place.run(['copy', '--json', '--from', from, '--to', to]));
  const counts = expected.ranges[0]?.counts;
  expect(JSON.parse(stdout) as Reported).toEqual({
    organizations: { copied: 0, present: 1 },
    keys: { copied: 0, present: 1 },
    projects: [
      {
        ...{ id: project, source: counts, target: counts, equal: true },
        ...{ recorded: 0, duplicates: 30_269, importedQueries: 0 },
      },
    ],
  });
});

test('a store without projects can be copied', async () => {
  const place = await emptyPlace();
  await (await opened(fileUrl(place, 'a.db'))).maintenance.check();
  const { stdout } = await succeed(copy(place, fileUrl(place, 'a.db'), fileUrl(place, 'b.db')));
  expect(stdout).toContain('1 organization, 0 projects, 0 keys (0 new)\n');
});

test('copy shows a progress bar on a terminal, clears it, and prints the result', async () => {
  const place = await placeWithSample();
  const args = `copy --from sqlite:${place.database} --to ${fileUrl(place, 'other.db')}`;
  const { status, stdout } = await runCommand('script', ['-qec', `${programInShell} ${args}`, '/dev/null'], {
    cwd: place.folder,
    env: { ...place.env, TERM: 'xterm', COLUMNS: '120' },
  });
  expect(status).toBe(0);
  expect(stdout).toMatch(/=+-* \d+% \| [\d,]+ read \| .+ left/);
  expect(stdout).toMatch(/every project has the same totals on both sides\r\n$/);
});

test('copy brings imported counts, once, and names one that differs in the target', async () => {
  const place = await placeWithProject();
  const [from, to, back] = [`sqlite:${place.database}`, newSchemaIn(server.url), fileUrl(place, 'back.db')];
  const input = 'date,caller,count\n2024-01-01,web,5\n2024-01-01,slack,0\n2024-01-02,slack,7\n';
  await succeed(
    place.run(['import', '-', '--project', project, '--format', 'counts', '--source', 'old'], { input }),
  );
  for (const _ of [1, 2]) {
    const { stdout } = await succeed(copy(place, from, to));
    expect(stdout).toContain('docs     0         0           12        12      12\n');
  }
  await succeed(copy(place, to, back));
  const stores = await Promise.all([from, to, back].map(opened));
  for (const store of stores) {
    const there = await store.counts.readImportedCounts(project, undefined, 10);
    expect(there.toSorted((a, b) => a.count - b.count).map(({ caller, count }) => [caller, count])).toEqual([
      ['slack', 0],
      ['web', 5],
      ['slack', 7],
    ]);
    expect(await store.maintenance.verify()).toMatchObject({ importedQueries: 12, differencesTotal: 0 });
  }
  const start = Date.UTC(2024, 0, 3);
  const other = { source: 'old', caller: 'api', start, end: start + 1, count: 1 };
  await stores[0]?.counts.importCounts(project, [other]);
  await stores[1]?.counts.importCounts(project, [{ ...other, count: 2 }]);
  expect(await refusal(copy(place, from, to), 1)).toMatch(
    /target .*: Nothing was imported: 1 count contradicts .*\n {2}old, caller api, .*: the count sent is 1; the count already there is 2/,
  );
});

test('copy says what it leaves out, before it copies', async () => {
  const place = await placeWithProject();
  await succeed(place.run(['member', 'invite', '--without-link', 'ada@example.org', '--role', 'owner']));
  const store = await opened(`sqlite:${place.database}`);
  await store.notifications.create(notificationOf('n'), by);
  const saidOf = async (target: string) =>
    (await succeed(copy(place, `sqlite:${place.database}`, fileUrl(place, target)))).stderr;
  const not = (what: string) => `Not copied: ${what}. See "Accounts after the move" in the docs.\n`;
  expect(await saidOf('target.db')).toBe(not('accounts, 1 notification, the audit log'));
  await succeed(place.run(['member', 'invite', 'eve@example.org', '--role', 'viewer']));
  expect(await saidOf('other.db')).toBe(not('accounts, 1 invitation, 1 notification, the audit log'));
});

test('copy says that an invitation is left out where nobody is a member yet', async () => {
  const place = await placeWithProject();
  await succeed(place.run(['member', 'invite', 'ada@example.org', '--role', 'owner']));
  const { stderr } = await succeed(copy(place, `sqlite:${place.database}`, fileUrl(place, 'target.db')));
  expect(stderr).toContain('Not copied: 1 invitation, the audit log.');
});
