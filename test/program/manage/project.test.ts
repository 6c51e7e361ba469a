import { describe, expect, test } from 'vitest';
import { TELEMETRY_DEFAULTS } from '../../../src/domain/queries/telemetry-defaults.js';
import { jsonOf } from '../../support/cli/cli-keys.js';
import { emptyPlace, placeWithProject, project, refusal, succeed } from '../../support/cli/cli-place.js';

const unset = {
  ...{ timeZone: null, weekStart: null, retentionDays: null, earliestAt: null, rowsFrom: null },
  ...{ otlpQuery: null, otlpId: null, otlpCaller: null, otlpDefaultCaller: null, otlpSiteOrigins: null },
};

describe('project create', () => {
  test.concurrent('creates a database with its folder and prints only the id', async () => {
    const place = await emptyPlace();
    const database = ['--database', `sqlite:${place.path('a/b/c.db')}`];
    const { stdout, stderr } = await succeed(place.run(['project', 'create', 'First', ...database]));
    expect(stdout).toMatch(/^[0-9a-z]{16}\n$/);
    expect(stderr).toBe('');
    const createdAt = expect.stringMatching(/^\d{4}-.+Z$/);
    const second = { id: 'My_docs-2', name: 'Über docs', createdAt, ...unset };
    const create = ['project', 'create', 'Über docs', '--id', 'My_docs-2', ...database];
    expect(await jsonOf(place, create)).toEqual(second);
    expect(await jsonOf(place, ['project', 'list', ...database])).toEqual([
      { id: stdout.trim(), name: 'First', createdAt, ...unset },
      second,
    ]);
  });

  test.concurrent('refuses an existing id', async () => {
    const place = await placeWithProject();
    expect(await place.run(['project', 'create', 'Again', '--id', project])).toEqual({
      status: 1,
      signal: null,
      stdout: '',
      stderr: 'caller-stats: There is a project docs already.\n',
    });
  });

  test.concurrent('refuses an invalid name and id, reporting both', async () => {
    const place = await emptyPlace();
    expect(await refusal(place.run(['project', 'create', ' ', '--id', 'a/b']), 2)).toMatch(
      /^caller-stats: NAME: .+\ncaller-stats: --id: .+\n$/,
    );
  });
});

test.concurrent('project list prints a table', async () => {
  const place = await placeWithProject();
  await succeed(place.run(['project', 'create', 'Blog', '--id', 'blog']));
  await succeed(
    place.run(['project', 'change', 'blog', '--time-zone', 'Europe/Berlin', '--retention-days', '90']),
  );
  await succeed(
    place.run(['project', 'change', 'blog', '--otlp-query', 'default;a=b', '--otlp-id', 'trace']),
  );
  const { stdout, stderr } = await succeed(place.run(['project', 'list']));
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => line.split(/ {2,}/))).toEqual([
    [
      'ID',
      'NAME',
      'CREATED',
      'TIME ZONE',
      'WEEK START',
      'RETENTION',
      'EARLIEST',
      'ROWS FROM',
      'OPENTELEMETRY',
    ],
    ['docs', 'Docs', expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+Z$/), '(reader’s)', 'monday', 'none'],
    [
      ...['blog', 'Blog', expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+Z$/), 'Europe/Berlin', 'monday', '90d'],
      'otlp-query default;a=b, otlp-id trace',
    ],
  ]);
  expect(stderr).toBe('');
});

describe('project change', () => {
  test.concurrent('refuses invalid values, reporting all, and changes nothing', async () => {
    const place = await placeWithProject();
    const bad = ['--name', ' ', '--time-zone', 'Europe/Atlantis', '--retention-days', '0'];
    const stderr = await refusal(place.run(['project', 'change', project, ...bad]), 2);
    expect(stderr).toMatch(
      /^caller-stats: --name: .+\ncaller-stats: --time-zone: .Europe\/Atlantis. .+\ncaller-stats: --retention-days: .+\n$/,
    );
    for (const days of ['1.5', '-1', '36501', '', 'never', '1e3']) {
      const refused = await place.run(['project', 'change', project, '--retention-days', days]);
      expect(refused, days).toMatchObject({ status: 2, stdout: '' });
    }
    const otlp = {
      ...{ '--otlp-query': 'a=', '--otlp-id': 'a b', '--otlp-caller': '', '--otlp-default-caller': 'Web' },
      '--otlp-site-origins': 'docs.example.com',
    };
    const lines = (
      await refusal(place.run(['project', 'change', project, ...Object.entries(otlp).flat()]), 2)
    )
      .trimEnd()
      .split('\n');
    expect(lines).toEqual(
      Object.entries(otlp).map(([flag, value]) =>
        expect.stringMatching(new RegExp(`^caller-stats: ${flag}: "${value}" is n`)),
      ),
    );
    const long = ['--otlp-query', `a=${'b'.repeat(1000)}`];
    expect(await refusal(place.run(['project', 'change', project, ...long]), 2)).toMatch(
      /^caller-stats: --otlp-query: .* is longer than 1000 characters\n$/,
    );
    const nothing = await place.run(['project', 'change', project]);
    expect(nothing).toMatchObject({ status: 2, stdout: '' });
    expect(nothing.stderr).toMatch(/give at least one of --name, .*, --otlp-site-origins$/m);
    expect(await place.run(['project', 'change', 'none', '--name', 'x'])).toEqual({
      status: 1,
      signal: null,
      stdout: '',
      stderr: 'caller-stats: There is no project none.\n',
    });
    const other = await place.run(['project', 'change', project, '--name', 'x', '--organization', 'acme']);
    expect(other).toMatchObject({ status: 1, stdout: '' });
    expect(await jsonOf(place, ['project', 'list'])).toMatchObject([{ id: project, name: 'Docs', ...unset }]);
    expect(await jsonOf(place, ['audit', '--action', 'project.change'])).toEqual([]);
  });

  test.concurrent('changes the given properties and prints them', async () => {
    const place = await placeWithProject();
    const change = (...args: string[]) => ['project', 'change', project, ...args];
    expect((await succeed(place.run(change('--name', 'Handbook')))).stdout).toBe('changed docs (Handbook)\n');
    expect(
      await jsonOf(
        place,
        change('--time-zone', 'Asia/Calcutta', '--week-start', 'sunday', '--retention-days', '36500'),
      ),
    ).toEqual({
      ...unset,
      id: project,
      name: 'Handbook',
      createdAt: expect.stringMatching(/Z$/),
      timeZone: 'Asia/Calcutta',
      weekStart: 'sunday',
      retentionDays: 36_500,
    });
    const back = change('--time-zone', 'none', '--week-start', 'monday', '--retention-days', 'none');
    expect(await jsonOf(place, back)).toMatchObject({ name: 'Handbook', ...unset, weekStart: 'monday' });
    const audit = ['audit', '--actor', 'command line', '--action', 'project.change', '--target', project];
    expect(await jsonOf(place, audit)).toMatchObject([
      {
        detail:
          'time zone: Asia/Calcutta, now none; first day of the week: sunday, now monday; retention in days: 36500, now none',
      },
      {
        detail:
          'time zone: none, now Asia/Calcutta; first day of the week: Monday, now sunday; retention in days: none, now 36500',
      },
      { detail: 'name: Docs, now Handbook' },
    ]);
    expect(await jsonOf(place, ['audit', '--target', 'none'])).toEqual([]);
    expect(await jsonOf(place, ['audit', '--actor', 'nobody'])).toEqual([]);
    expect(await place.run(['audit', '--action', 'project.rename'])).toMatchObject({ status: 2, stdout: '' });
  });

  test.concurrent('changes the OpenTelemetry settings, and brings back those of the server', async () => {
    const place = await placeWithProject();
    const change = (...args: string[]) => ['project', 'change', project, ...args];
    const own = {
      otlpQuery: 'default;http.route=/ask',
      otlpId: 'trace',
      otlpCaller: 'who',
      otlpDefaultCaller: 'slack',
      otlpSiteOrigins: 'https://docs.example.org',
    };
    const flags = [
      '--otlp-query',
      '--otlp-id',
      '--otlp-caller',
      '--otlp-default-caller',
      '--otlp-site-origins',
    ];
    const texts = Object.values(own);
    const { stdout } = await succeed(
      place.run([...change(...flags.flatMap((flag, at) => [flag, texts[at] ?? ''])), '--json']),
    );
    expect(JSON.parse(stdout)).toMatchObject(own);
    expect(await jsonOf(place, change('--otlp-id', 'question', '--otlp-query', 'a'))).toMatchObject({
      ...own,
      otlpId: null,
      otlpQuery: 'a',
    });
    const reset = flags.flatMap((flag, at) => [flag, Object.values(TELEMETRY_DEFAULTS)[at] ?? '']);
    expect(await jsonOf(place, change(...reset))).toMatchObject(unset);
  });
});
