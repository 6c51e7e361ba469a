/** Copies of stores in use, interrupted copies, and how a second run completes both. */
import { expect, inject, test } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import { firstRunOf, kill, matched, programInShell, startCli, startCommand } from '../../support/cli/cli.js';
import { clientOf } from '../../support/cli/cli-client.js';
import {
  emptyPlace,
  makeKey,
  type Place,
  placeWithSample,
  project,
  succeed,
} from '../../support/cli/cli-place.js';
import {
  at,
  copy,
  opened,
  patient,
  queriesIn,
  type Reported,
  untilRecorded,
  whileHeld,
} from '../../support/cli/copy.js';
import { newSchemaIn } from '../../support/storage/store.js';
import { isDeep } from '../../support/volume.js';

const servers = inject('postgresServers');
const [older, newest] = [servers[0], servers.at(-1)];
if (older === undefined || newest === undefined) throw new Error('no PostgreSQL server was started');

/** One batch: after this many queries, a copy is in progress. */
const batchQueries = 5_000;
const sampleQueries = 30_269;

/** An id that a copy of the sample reaches after more than half of it. */
async function lateId(place: Place): Promise<string> {
  const queries = await queriesIn(await opened(`sqlite:${place.database}`), project);
  return queries[20_000]?.id ?? '';
}

/** Ctrl-C on a terminal, below, sends SIGINT in every run. */
test.each(isDeep ? (['SIGKILL', 'SIGTERM', 'SIGINT'] as const) : (['SIGKILL'] as const))(
  'a second run completes a copy that %s ended half-way',
  async (signal) => {
    const place = await placeWithSample();
    const [from, to] = [`sqlite:${place.database}`, newSchemaIn(newest.url)];
    await makeKey(place, 'recording');
    const target = await opened(to);
    await whileHeld(to, { projectId: project, id: await lateId(place) }, async () => {
      const running = startCli(['copy', '--from', from, '--to', to], { env: patient });
      await untilRecorded(target, project, batchQueries);
      kill(running.pid, signal);
      expect(await running.ended).toMatchObject({ status: null, signal, stdout: '' });
      expect((await target.counts.count(project, ALL_TIME)).total).toBeLessThan(sampleQueries);
    });

    const { stdout } = await succeed(copy(place, from, to, ['--json']));
    const [copied] = (JSON.parse(stdout) as Reported).projects;
    expect(copied).toMatchObject({ equal: true, target: { total: sampleQueries } });
    expect(copied?.recorded).toBeLessThanOrEqual(sampleQueries - batchQueries);
    const { stdout: verified } = await succeed(place.run(['verify'], at(to)));
    expect(verified).toBe('30,269 queries in 1 project: every counter is what a recount gives\n');
  },
);

test('Ctrl-C on a terminal ends a copy at once', async () => {
  const place = await placeWithSample();
  const [from, to] = [`sqlite:${place.database}`, newSchemaIn(newest.url)];
  const target = await opened(to);
  await target.maintenance.check();
  await whileHeld(to, { projectId: project, id: await lateId(place) }, async () => {
    const command = `echo "process $$"; exec ${programInShell} copy --from ${from} --to ${to}`;
    const running = startCommand('script', ['-qec', `bash -c '${command}'`, '/dev/null'], {
      cwd: place.folder,
      env: { ...patient, TERM: 'xterm' },
    });
    const shown = await running.printed(/process \d+\s[\s\S]*[1-9][\d,]* read/);
    kill(Number(matched(shown, /process (\d+)/)), 'SIGINT');
    expect(await running.ended).toMatchObject({ status: 130 });
  });
});

test('queries that servers record on either side during a copy are reported, and copied by the next run', async () => {
  const place = await placeWithSample();
  const [from, to] = [`sqlite:${place.database}`, newSchemaIn(older.url)];
  const key = await makeKey(place, 'admin');
  const source = await place.serve();
  const target = await place.serve([], at(to));
  const atSource = clientOf(source, project, key);
  const atTarget = clientOf(target, project, key);
  const watched = await opened(to);

  const late = ['!1', '!2', '!3'].map((id) => ({ id, caller: 'slack' }));
  const first = await whileHeld(to, { projectId: project, id: await lateId(place) }, async () => {
    const running = startCli(['copy', '--from', from, '--to', to], { env: patient });
    await untilRecorded(watched, project, batchQueries);
    // The copy has already passed the place of these ids.
    expect(await atSource.record(late)).toMatchObject({ status: 200, body: { recorded: 3 } });
    return running;
  });
  const { status, stdout } = await first.ended;
  expect(status).toBe(1);
  expect(stdout).toContain('\ndocs: 3 queries arrived at the source meanwhile; run it again\n');
  expect(stdout).not.toContain('same totals');

  const again = await succeed(copy(place, from, to));
  expect(again.stdout).toMatch(/^docs {5}3 +30,269 +0 +30,272 +30,272$/m);
  expect((await atTarget.count()).body).toEqual((await atSource.count()).body);

  const moved = [...late.slice(1), { id: 'new', caller: 'web' }, { id: 'newer', caller: 'app' }];
  expect(await atTarget.record(moved)).toMatchObject({ body: { recorded: 2, duplicates: 2 } });
  const third = await copy(place, from, to);
  expect(third.status).toBe(1);
  expect(third.stdout).toContain(
    'docs: the target has every query of the source, and 2 queries that others recorded there (web +1, other +1)\n',
  );
  // A copy in the other direction brings the additional queries of the target.
  await succeed(copy(place, to, from));
  expect((await atSource.count()).body).toEqual((await atTarget.count()).body);
  await succeed(place.run(['verify']));
  await succeed(place.run(['verify'], at(to)));
});

test.each([
  ['web', 'api', 'api +1, web −1'],
  // Both count as other.
  ['slack', 'zulip', 'zulip +1, slack −1'],
])(
  'queries with the same ids and other callers, %s and %s, are reported as different',
  async (one, other, said) => {
    const place = await emptyPlace();
    const urls = ['a.db', 'b.db'].map((name) => `sqlite:${place.path(name)}`);
    for (const [index, url] of urls.entries()) {
      await succeed(place.run(['project', 'create', 'Docs', '--id', project], at(url)));
      const input = `{"id":"one","caller":"${[one, other][index]}"}\n{"id":"two","caller":"bot"}`;
      await succeed(place.run(['import', '-', '--project', project], { ...at(url), input }));
    }
    const [from = '', to = ''] = urls;
    const { status, stdout } = await copy(place, from, to);
    expect(status).toBe(1);
    expect(stdout).toContain(
      `docs: the target has the ids of the source, some of them with another caller (${said})\n`,
    );
    const asJson = JSON.parse((await copy(place, from, to, ['--json'])).stdout) as Reported;
    expect(asJson.projects).toMatchObject([{ id: project, recorded: 0, duplicates: 2, equal: false }]);
  },
);

test('first admin keys of both stores are kept, and the next run copies revocation and last use', async () => {
  const place = await emptyPlace();
  const [from, to] = [`sqlite:${place.database}`, newSchemaIn(newest.url)];
  const source = await place.serve();
  const made = firstRunOf(source);
  const unused = await makeKey(place, 'admin');
  // The first admin key of this store has the same id as that of any other store.
  const target = await place.serve([], at(to));
  const own = firstRunOf(target);
  const stores = [await opened(from), await opened(to)] as const;
  const keysOf = async () => {
    const lists = await Promise.all(stores.map((store) => store.directory.listKeys(DEFAULT_ORGANIZATION_ID)));
    return lists.map((keys) => new Map(keys.map((key) => [key.hash, key])));
  };
  const tallyOf = ({ stdout }: { stdout: string }) => (JSON.parse(stdout) as Reported).keys;

  expect(tallyOf(await succeed(copy(place, from, to, ['--json'])))).toEqual({ copied: 3, present: 0 });
  const statusOf = async (key: string) => (await clientOf(target, made.project, key).count()).status;
  expect([await statusOf(made.admin), await statusOf(own.admin)]).toEqual([200, 200]);
  expect(await clientOf(source, made.project, unused).count()).toMatchObject({ status: 200 });
  await succeed(place.run(['key', 'revoke', 'first-admin-key']));
  // The server writes the last use of keys when it stops.
  await source.stop();
  expect(tallyOf(await copy(place, from, to, ['--json']))).toEqual({ copied: 0, present: 3 });
  const [there = new Map(), here = new Map()] = await keysOf();
  expect(here.size).toBe(5);
  for (const [hash, { id: _, lastUsedAt, ...rest }] of there) {
    expect(here.get(hash)).toMatchObject(rest);
    expect(here.get(hash)?.lastUsedAt ?? 0).toBeGreaterThanOrEqual(lastUsedAt ?? 0);
  }
  expect([await statusOf(made.admin), await statusOf(own.admin)]).toEqual([401, 200]);
});
