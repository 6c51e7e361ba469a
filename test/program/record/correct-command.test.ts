/** `caller-stats correct`, on a database and on a running server. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { placeWithProject, project, succeed } from '../../support/cli/cli-place.js';

const LINES = ['web', 'slak', 'slak', 'bot']
  .map((caller, at) => JSON.stringify({ id: `q${at}`, caller, occurredAt: `2024-01-0${at + 1}T00:00:00Z` }))
  .join('\n');

describe('correct', () => {
  test('refuses wrong usage, naming the options, and what does not match', async () => {
    const { run } = await placeWithProject();
    expect(await run(['correct', project, 'remove'])).toMatchObject({ status: 2 });
    const missing = await run(['correct', project, 'rename', '--new-caller', 'My Bot']);
    expect(missing).toMatchObject({ status: 2, stdout: '' });
    for (const problem of [/--reason: is missing/, /--new-caller: is not "web"/, /--ids: is missing/])
      expect(missing.stderr).toMatch(problem);
    const nothing = await run(['correct', project, 'withdraw', '--caller', 'bot', '--reason', 'x']);
    expect(nothing).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/no query that counts matches/),
    });
    expect(await run(['correct', 'none', 'withdraw', '--caller', 'bot', '--reason', 'x'])).toMatchObject({
      status: 1,
    });
  });

  test('shows, corrects, lists and undoes', async () => {
    const place = await placeWithProject();
    await writeFile(place.path('queries.ndjson'), LINES);
    await writeFile(place.path('ids.txt'), 'q0\nq3\n');
    await succeed(place.run(['import', 'queries.ndjson', '--project', project]));
    const correct = async (...args: string[]) =>
      (await succeed(place.run(['correct', project, ...args, '--reason', 'a test']))).stdout;
    const total = async () =>
      JSON.parse((await succeed(place.run(['stats', project, '--json']))).stdout).total;
    const ids = ['withdraw', '--id', 'one', '--ids', place.path('ids.txt')];
    expect(await correct(...ids, '--dry-run')).toBe(
      'one would withdraw 2 queries: web 1, api 0, other 1\n  bot 1\n  web 1\n' +
        '  from 2024-01-01T00:00:00.000Z to 2024-01-04T00:00:00.000Z\n',
    );
    expect(await total()).toBe(4);
    expect(await correct(...ids)).toMatch(/^one withdrew 2 queries/);
    expect(await total()).toBe(2);
    expect(await correct('rename', '--caller', 'slak', '--new-caller', 'slack')).toMatch(/renamed 2 queries/);
    expect(await correct('undo', '--correction', 'one', '--id', 'two')).toMatch(/^two took back 2 queries/);
    expect(await total()).toBe(4);
    const { stdout } = await succeed(place.run(['correct', project, 'list']));
    expect(stdout).toMatch(/withdraw +2 +undone by two +command line +a test/);
    expect(await place.run(['verify'])).toMatchObject({ status: 0 });
  });

  test('leaves ids that a copy knows as withdrawn, as often as it is made', async () => {
    const place = await placeWithProject();
    const input = LINES;
    await succeed(place.run(['import', '-', '--project', project], { input }));
    await succeed(place.run(['correct', project, 'withdraw', '--caller', 'slak', '--reason', 'a test']));
    const [from, to] = [`sqlite:${place.database}`, `sqlite:${place.path('copy.db')}`];
    for (let times = 0; times < 2; times++) await succeed(place.run(['copy', '--from', from, '--to', to]));
    const again = { input, env: { DATABASE_URL: to } };
    const { stdout } = await succeed(place.run(['import', '-', '--project', project], again));
    expect(stdout).toMatch(/4 read, 0 recorded, 4 duplicates/);
    const counted = await succeed(place.run(['stats', project, '--json'], again));
    expect(JSON.parse(counted.stdout)).toMatchObject({ web: 1, api: 0, other: 1, total: 2 });
    expect(await place.run(['verify'], again)).toMatchObject({ status: 0 });
  });
});
