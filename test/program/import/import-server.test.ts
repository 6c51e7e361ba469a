import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { sharedByTests } from '../../support/cleanup.js';
import { clientOf } from '../../support/cli/cli-client.js';
import {
  emptyPlace,
  makeKey,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { sampleCounts, sampleFile } from '../../support/sample.js';
import { isDeep } from '../../support/volume.js';

/** `import --url` must not need the database. */
const noDatabase = { DATABASE_URL: 'sqlite:./missing/caller-stats.db' };

/** The deep run also has a server with the default limits. */
const limits: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['700 queries', ['--batch-queries-max', '700']],
  ['64 KiB', ['--body-bytes-max', '65536']],
  ...(isDeep ? ([['the default', []]] as const) : []),
];

describe('import --url', () => {
  test.each(limits)('records the sample on a server that accepts %s at a time', async (_limit, args) => {
    const place = await placeWithProject();
    const [recording, admin] = await Promise.all([makeKey(place, 'recording'), makeKey(place, 'admin')]);
    const server = await place.serve(args);
    const command = ['import', sampleFile, '--project', project, '--url', server.url];
    const env = { ...noDatabase, CALLER_STATS_KEY: recording };
    expect(await place.run(command, { env })).toEqual({
      status: 0,
      signal: null,
      stdout: '30,874 read, 30,269 recorded, 605 duplicates\n',
      stderr: '',
    });
    const { body } = await clientOf(server, project, admin).count();
    expect(body).toEqual(sampleCounts);
    expect(await server.stop()).toMatchObject({ status: 0 });
    await succeed(place.run(['verify']));
  });

  const shared = sharedByTests(async () => {
    const place = await placeWithProject();
    const [recording, admin] = [await makeKey(place, 'recording'), await makeKey(place, 'admin')];
    return { place, recording, admin, url: (await place.serve()).url };
  });

  test('with --strict records nothing if a line is bad, and prints totals as JSON', async () => {
    const { place, recording, url } = shared();
    const send = (input: string) =>
      place.run(['import', '-', '--project', project, '--url', url, '--strict', '--json'], {
        env: { ...noDatabase, CALLER_STATS_KEY: recording },
        input,
      });
    const good = '{"id":"strict","caller":"web"}\n';
    const refused = await send(`${good}no\n`);
    expect(refused.status).toBe(1);
    expect(JSON.parse(refused.stdout)).toEqual({ read: 2, recorded: 0, duplicates: 0, bad: 1, skipped: 0 });
    const accepted = await succeed(send(good + good));
    expect(JSON.parse(accepted.stdout)).toEqual({ read: 2, recorded: 1, duplicates: 1, bad: 0, skipped: 0 });
  });

  test('reports bad lines and records the good ones', async () => {
    const { place, admin, url } = shared();
    const before = (await clientOf({ url }, project, admin).count()).body.total;
    await writeFile(place.path('q.ndjson'), '{"id":"a","caller":"web"}\nno\n{"id":"b","caller":"é"}\n');
    const { status, stdout, stderr } = await place.run(
      ['import', 'q.ndjson', '--project', project, '--url', `${url}/`],
      { env: { CALLER_STATS_KEY: admin } },
    );
    expect(stderr).toMatch(/^q\.ndjson:2: is not JSON: "no"\nq\.ndjson:3: caller: /);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '3 read, 1 recorded, 0 duplicates, 2 bad\n' });
    expect((await clientOf({ url }, project, admin).count()).body.total).toBe(before + 1);
  });

  test.each([
    ['an unknown project', 'other', '', /^The server answered 404: There is no such project\.\n$/],
    ['a malformed key', project, 'x', /^The server answered 401: The API key is malformed/],
  ])('prints why the server refuses %s', async (_what, id, suffix, message) => {
    const { place, recording, url } = shared();
    const stderr = await refusal(
      place.run(['import', sampleFile, '--project', id, '--url', url], {
        env: { CALLER_STATS_KEY: `${recording}${suffix}` },
      }),
      1,
    );
    expect(stderr.replace(/^caller-stats: /, '')).toMatch(message);
    expect(stderr).not.toContain(recording);
  });

  test.concurrent.each([
    ['without a key', 'http://127.0.0.1:1', {}, 'CALLER_STATS_KEY'],
    ['with an invalid URL', 'localhost:4000', { CALLER_STATS_KEY: 'k' }, '--url'],
  ])('%s is wrong usage', async (_what, url, env: Record<string, string>, message) => {
    const place = await emptyPlace();
    for (const command of [
      ['import', sampleFile, '--project', project],
      ['stats', project],
    ]) {
      expect(await refusal(place.run([...command, '--url', url], { env }), 2)).toContain(message);
    }
  });
});
