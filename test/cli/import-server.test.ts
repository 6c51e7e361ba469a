import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { clientOf } from '../support/cli-client.js';
import { emptyPlace, makeKey, placeWithProject, project, succeed } from '../support/cli-place.js';
import { expected, sampleFile } from '../support/sample.js';

/** What works on a running server must not need the database. */
const noDatabase = { DATABASE_URL: 'sqlite:./missing/caller-stats.db' };

describe('import --url', () => {
  test.each([
    ['a server', []],
    ['a server that takes 700 queries at a time', ['--batch-queries-max', '700']],
    ['a server that takes 64 KiB at a time', ['--body-bytes-max', '65536']],
  ])('records the sample into %s with a recording key', async (_which, args) => {
    const place = await placeWithProject();
    const [recording, admin] = await Promise.all([makeKey(place, 'recording'), makeKey(place, 'admin')]);
    const server = await place.serve(args);
    const command = ['import', sampleFile, '--project', project, '--url', server.url];
    const env = { ...noDatabase, CALLER_STATS_KEY: recording };
    const first = await place.run(command, { env });
    expect(first).toEqual({
      status: 0,
      signal: null,
      stdout: '30,874 read, 30,269 recorded, 605 duplicates\n',
      stderr: '',
    });
    const { body } = await clientOf(server, project, admin).count();
    expect(body).toEqual(expected.ranges[0]?.counts);
    expect(await server.stop()).toMatchObject({ status: 0 });
    await succeed(place.run(['verify']));
  });

  test('gives its totals as JSON, and holds back everything where a line is bad', async () => {
    const place = await placeWithProject();
    const key = await makeKey(place, 'recording');
    const server = await place.serve();
    const send = (input: string) =>
      place.run(['import', '-', '--project', project, '--url', server.url, '--strict', '--json'], {
        env: { ...noDatabase, CALLER_STATS_KEY: key },
        input,
      });
    const good = '{"id":"a","caller":"web"}\n';
    const refused = await send(`${good}no\n`);
    expect(refused.status).toBe(1);
    expect(JSON.parse(refused.stdout)).toEqual({ read: 2, recorded: 0, duplicates: 0, bad: 1, skipped: 0 });
    const accepted = await succeed(send(good + good));
    expect(JSON.parse(accepted.stdout)).toEqual({ read: 2, recorded: 1, duplicates: 1, bad: 0, skipped: 0 });
  });

  test('names bad lines as it does for a database, and records the good ones', async () => {
    const place = await placeWithProject();
    const key = await makeKey(place, 'admin');
    const server = await place.serve();
    await writeFile(place.path('q.ndjson'), '{"id":"a","caller":"web"}\nno\n{"id":"b","caller":"é"}\n');
    const { status, stdout, stderr } = await place.run(
      ['import', 'q.ndjson', '--project', project, '--url', `${server.url}/`],
      { env: { CALLER_STATS_KEY: key } },
    );
    expect(stderr).toMatch(/^q\.ndjson:2: is not JSON: "no"\nq\.ndjson:3: caller: /);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '3 read, 1 recorded, 0 duplicates, 2 bad\n' });
    const { body } = await clientOf(server, project, key).count();
    expect(body).toMatchObject({ total: 1 });
  });

  test('says what the server refuses: an unknown project, a key that is none', async () => {
    const place = await placeWithProject();
    const key = await makeKey(place, 'recording');
    const server = await place.serve();
    const toProject = (id: string, sent: string) =>
      place.run(['import', sampleFile, '--project', id, '--url', server.url], {
        env: { CALLER_STATS_KEY: sent },
      });
    const unknown = await toProject('other', key);
    expect(unknown).toMatchObject({ status: 1, stdout: '' });
    expect(unknown.stderr).toBe('caller-stats: The server answered 404: There is no such project.\n');
    const mistyped = await toProject(project, `${key}x`);
    expect(mistyped).toMatchObject({ status: 1, stdout: '' });
    expect(mistyped.stderr).toMatch(/^caller-stats: The server answered 401: The API key is malformed/);
    expect(mistyped.stderr).not.toContain(key);
  });

  test.concurrent.each([
    ['without a key', 'http://127.0.0.1:1', {}, 'CALLER_STATS_KEY'],
    ['to what is no address', 'localhost:4000', { CALLER_STATS_KEY: 'k' }, '--url'],
  ])('%s is wrong usage', async (_what, url, env: Record<string, string>, message) => {
    const place = await emptyPlace();
    for (const command of [
      ['import', sampleFile, '--project', project],
      ['stats', project],
    ]) {
      const { status, stdout, stderr } = await place.run([...command, '--url', url], { env });
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(message);
    }
  });
});
