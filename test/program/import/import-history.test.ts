/** `import` of history that exists only as counts. */
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import { sharedByTests } from '../../support/cleanup.js';
import {
  makeKey,
  type Place,
  placeWithProject,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { openForTest } from '../../support/storage/store.js';

const into = ['--project', project];
const counts = [...into, '--source', 'old'];

const stats = async (place: Place, ...args: string[]): Promise<unknown> =>
  JSON.parse((await succeed(place.run(['stats', project, '--json', ...args]))).stdout);

const importText = (place: Place, input: string, ...args: string[]) =>
  place.run(['import', 'counts', '-', ...counts, ...args], { input });

describe('import --format counts refuses as wrong usage', () => {
  test.each<[what: string, args: string[], message: RegExp]>([
    ['no source', ['--format', 'counts'], /--source: is missing; name the system that counted the queries/],
    ['a bad source', ['--format', 'counts', '--source', 'a b'], /--source: is not 1 to 200 ASCII characters/],
    ['an unknown zone', ['--format', 'counts', '--source', 'x', '--time-zone', 'Berlin'], /--time-zone: /],
    [
      '--map',
      ['--format', 'counts', '--source', 'x', '--map', 'id=x'],
      /--map: does not apply to --format counts/,
    ],
    [
      '--from',
      ['--format', 'counts', '--source', 'x', '--from', '2024-01-01'],
      /--from: is for --format caller-stats-api/,
    ],
    ['--source for queries', ['--source', 'x'], /--source: is for --format counts, caller-stats-api/],
    [
      'a server without project and start',
      ['--format', 'caller-stats-api'],
      /--source-project: is missing.*\n.*--from: is missing/,
    ],
    [
      'web as the caller of type other',
      ['--format', 'caller-stats-api', '--source-project', 'x', '--from', '2024-01-01', '--caller', 'web'],
      /--caller: names the caller of queries of type other/,
    ],
    [
      'an empty range',
      ['--format', 'caller-stats-api', '--source-project', 'x', '--from', '2024-01-01', '--to', '2024-01-01'],
      /--to: does not lie after --from/,
    ],
  ])('%s', async (_what, args, message) => {
    const place = await placeWithProject();
    expect(await refusal(place.run(['import', 'http://127.0.0.1:1', ...into, ...args]), 2)).toMatch(message);
  });
});

describe('import counts', () => {
  const place = sharedByTests(placeWithProject);

  test('names each bad record and imports nothing', async () => {
    const lines = [
      'date,caller,count',
      '2024-01-01,web,5',
      '2024-02-30,web,5',
      '2024-01-02,We b,5',
      '2024-01-03,web,-5',
      '2024-01-04,web',
      '2024-01-01,web,5',
      '2999-01-01,web,5',
    ];
    const outcome = await importText(place(), lines.join('\n'));
    expect(outcome).toMatchObject({ status: 1 });
    expect(outcome.stderr.split('\n')).toEqual([
      'stdin:3: date: "2024-02-30" is not a date: February of that year has the days 01 to 29',
      expect.stringMatching(/^stdin:4: caller: is not "web", "api" or a name/),
      expect.stringMatching(/^stdin:5: count: is not a whole number from 0 to 1000000000, but "-5"$/),
      'stdin:6: has 2 fields, and the first line names 3 columns',
      expect.stringMatching(/^stdin:8: start: lies more than a day ahead/),
      expect.stringMatching(
        /^stdin:7: caller web has a count from 2024-01-01T00:00.* in stdin:2; add them up/,
      ),
      '',
    ]);
    expect(outcome.stdout).toMatch(/^Nothing was imported: 7 read, 0 recorded, 0 duplicates, 6 bad; /);
    expect(await stats(place())).toMatchObject({ total: 0 });
  });

  test.each([
    [
      'an unknown column',
      'date,caller,cuont\n',
      /stdin:1: "cuont": is not a column here; did you mean count\?/,
    ],
    ['no span', 'caller,count\n', /stdin:1: start: there is no such column.*end: there is no such column/],
    ['date and start', 'date,start,caller,count\n', /"start": is not a column here/],
  ])('names a header with %s', async (_what, input, message) => {
    const outcome = await importText(place(), input);
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toMatch(message);
  });

  test('imports days of a time zone once, and refuses another count for one of them', async () => {
    const lines = 'caller,count,date\r\nweb,5,2024-03-30\r\nslack,3,2024-03-30\r\nweb,7,2024-03-31\r\n';
    const berlin = ['--time-zone', 'Europe/Berlin'];
    const dry = await succeed(importText(place(), lines, ...berlin, '--dry-run'));
    expect(dry.stdout).toBe(
      'MONTH    CALLER  QUERIES\n2024-03  slack         3\n2024-03  web          12\n' +
        'Dry run, nothing was imported: 3 read, 3 to record, 0 duplicates; the counts have 15 queries\n',
    );
    expect(await stats(place())).toMatchObject({ total: 0 });
    const first = await succeed(importText(place(), lines, ...berlin));
    expect(first).toMatchObject({
      stdout: '3 read, 3 recorded, 0 duplicates; the counts have 15 queries\n',
      stderr: '',
    });
    const again = await succeed(importText(place(), lines, ...berlin, '--json'));
    expect(JSON.parse(again.stdout)).toEqual({
      ...{ read: 3, recorded: 0, duplicates: 3, bad: 0, skipped: 0, queries: 15 },
    });
    // The day of 23 hours.
    expect(await stats(place(), '--from', '2024-03-30T23:00Z', '--to', '2024-03-31T22:00Z')).toEqual({
      ...{ web: 7, api: 0, other: 0, total: 7 },
    });
    const other = lines.replace('web,7', 'web,8').replace('slack,3', 'discord,3');
    expect(await refusal(importText(place(), other, ...berlin), 1)).toMatch(
      /Nothing was imported: 1 count contradicts one.*\n {2}old, caller web, 2024-03-30T23:00:00.000Z to 2024-03-31T22:00:00.000Z: the count sent is 8; the count already there is 7\n$/,
    );
    // The same days in UTC overlap those of Berlin.
    expect(await refusal(importText(place(), lines), 1)).toMatch(/overlaps the span/);
    expect(await stats(place())).toEqual({ web: 12, api: 0, other: 3, total: 15 });
    expect((await succeed(place().run(['verify']))).stdout).toBe(
      '0 queries and 15 in imported counts, in 1 project: every counter is what a recount gives\n',
    );
  });

  test('skips spans that have not ended, unless they are asked for', async () => {
    const own = await placeWithProject();
    const today = new Date().toISOString().slice(0, 10);
    const lines = `start,end,count\n2024-01-01,2024-02-01,4\n${today}T00:00:00Z,${today}T23:59:59.999Z,6\n`;
    const args = ['--caller', 'sdk-python'];
    expect((await succeed(importText(own, lines, ...args))).stdout).toBe(
      '2 read, 1 recorded, 0 duplicates, 1 skipped; the counts have 4 queries\n',
    );
    await succeed(importText(own, lines, ...args, '--include-unfinished'));
    expect(await stats(own)).toMatchObject({ other: 10, total: 10 });
  });

  test('changes nothing if one of many counts contradicts', async () => {
    const own = await placeWithProject();
    const day = (number: number) => new Date(Date.UTC(1990, 0, 1 + number)).toISOString().slice(0, 10);
    const linesOf = (length: number, last: number) => [
      'date,caller,count',
      ...Array.from({ length }, (_, at) => `${day(at)},web,${at < length - 1 ? 1 : last}`),
    ];
    await writeFile(own.path('last.csv'), `date,caller,count\n${day(10_999)},web,2\n`);
    await succeed(own.run(['import', 'counts', own.path('last.csv'), ...counts]));
    expect(await refusal(importText(own, linesOf(11_000, 3).join('\n')), 1)).toMatch(/Nothing was imported/);
    expect(await stats(own)).toMatchObject({ total: 2 });
    expect((await succeed(importText(own, linesOf(11_000, 2).join('\n')))).stdout).toMatch(
      /^11,000 read, 10,999 recorded, 1 duplicates/,
    );
    expect(await stats(own)).toMatchObject({ total: 11_001 });
  });
});

describe('import --format caller-stats-api', () => {
  const shared = sharedByTests(async () => {
    const [old, own] = [await placeWithProject(), await placeWithProject()];
    const at = (time: string, caller: string, id: number) =>
      JSON.stringify({ id: `q${id}`, caller, occurredAt: time });
    const queries = [
      ...['2024-03-30T22:59:59Z', '2024-03-30T23:00:00Z', '2024-03-31T00:00:00Z', '2024-04-02T12:00:00Z'],
    ].flatMap((time, number) =>
      ['web', 'api', 'slack', 'discord'].map((caller, place) => at(time, caller, number * 4 + place)),
    );
    await succeed(old.run(['import', '-', ...into], { input: queries.join('\n') }));
    const [sourceKey, key] = [await makeKey(old, 'admin'), await makeKey(own, 'admin')];
    const [{ url: from }, { url: to }] = [await old.serve(), await own.serve()];
    return { own, from, to, env: { CALLER_STATS_SOURCE_KEY: sourceKey, CALLER_STATS_KEY: key } };
  });
  const api = ['--source-project', project];
  const days = ['--from', '2024-03-29', '--to', '2024-04-05'];

  test('reads days of another server into the database or a server, once', async () => {
    const { own, from, to, env } = shared();
    const run = (...args: string[]) =>
      own.run(['import', 'counts', from, ...into, ...api, ...days, ...args], { env });
    expect((await succeed(run())).stdout).toBe(
      '21 read, 21 recorded, 0 duplicates; the counts have 16 queries\n',
    );
    expect((await succeed(run('--url', to))).stdout).toMatch(/^21 read, 0 recorded, 21 duplicates/);
    expect(await stats(own)).toEqual({ web: 4, api: 4, other: 8, total: 16 });
    expect(await stats(own, '--from', '2024-03-31', '--to', '2024-04-01')).toMatchObject({ total: 4 });
    expect(await stats(own, '--callers')).toMatchObject({ callers: [{ caller: 'other', count: 8 }, {}, {}] });
    const refused = await refusal(run('--time-zone', 'Europe/Berlin', '--url', to), 1);
    expect(refused).toMatch(/The server answered 409: 127.* caller api, .* overlaps the span/s);
    const another = ['--time-zone', 'Europe/Berlin', '--source', 'another', '--caller', 'sdk', '--url', to];
    expect((await succeed(run(...another))).stdout).toMatch(/^21 read, 21 recorded/);
    // The day of 23 hours.
    expect(await stats(own, '--from', '2024-03-30T23:00Z', '--to', '2024-03-30T23:00:00.001Z')).toEqual({
      ...{ web: 2, api: 2, other: 4, total: 8 },
    });
    await succeed(own.run(['verify']));
  });

  test('reads only days that are over, unless asked for more', async () => {
    const { own, from, env } = shared();
    const today = new Date();
    const start = new Date(today.getTime() - dayMs).toISOString().slice(0, 10);
    const run = (...args: string[]) =>
      own.run(['import', 'counts', from, ...into, ...api, '--from', start, '--dry-run', '--json', ...args], {
        env,
      });
    const read = async (...args: string[]) =>
      (JSON.parse((await succeed(run(...args))).stdout) as { read: number }).read / 3;
    const [over, all] = [await read(), await read('--include-unfinished')];
    expect(all).toBe(over + 1);
  });

  test('fails without a key, and for a server without the operation, by name', async () => {
    const { own, from, env } = shared();
    const run = (url: string, more: object, id = project) =>
      own.run(['import', url, ...into, '--format', 'caller-stats-api', '--source-project', id, ...days], {
        env: { ...env, ...more },
      });
    expect(await refusal(run(from, { CALLER_STATS_SOURCE_KEY: '' }), 2)).toBe(
      'caller-stats: FILE: needs an API key in the environment variable CALLER_STATS_SOURCE_KEY\n',
    );
    expect(await refusal(run('old.csv', {}), 2)).toMatch(/FILE: "old.csv" is not a URL/);
    expect(await refusal(run(from, {}, 'none'), 1)).toMatch(
      /The server answered 404: There is no such project/,
    );
    expect(await refusal(run(from, { CALLER_STATS_SOURCE_KEY: 'wrong' }), 1)).toMatch(
      /The server answered 401/,
    );
  });
});

describe("import --format plausible, of Plausible's own export,", () => {
  const file = fileURLToPath(
    new URL('../../samples/exports/plausible-imported_custom_events_20260530_20260602.csv', import.meta.url),
  );
  const of = ['import', file, ...into, '--format', 'plausible'];
  const questions = ['--source', 'docs.example.com', '--event', 'Assistant question', '--caller', 'web'];

  test('refuses what it cannot tell', async () => {
    const place = await placeWithProject();
    expect(await refusal(place.run(of), 2)).toMatch(
      /--source: is missing.*\n.*--event: name one event that stands for a question\n.*--caller: is missing/,
    );
    const other = ['import', '-', ...into, '--format', 'plausible', ...questions];
    const { status, stderr } = await place.run(other, { input: 'date,visitors\n2026-05-30,5\n' });
    expect(stderr).toMatch(/^stdin:1: name: there is no such column.*; events: there is no such column/);
    expect(status).toBe(1);
  });

  test('counts one event at the start of its days, once however often it is imported', async () => {
    const place = await placeWithProject();
    const { stdout } = await succeed(place.run([...of, ...questions]));
    expect(stdout).toBe('7 read, 2 recorded, 0 duplicates, 5 skipped; the counts have 4 queries\n');
    await succeed(place.run([...of, ...questions]));
    expect(await stats(place)).toMatchObject({ web: 4, total: 4 });
    const may = ['--from', '2026-05-30', '--to', '2026-05-30T00:00:00.001Z'];
    expect(await stats(place, ...may)).toMatchObject({ web: 3, total: 3 });
    await succeed(place.run(['verify']));
  });

  test('has days in the time zone of the site', async () => {
    const place = await placeWithProject();
    await succeed(place.run([...of, ...questions, '--time-zone', 'Europe/Berlin']));
    const before = ['--from', '2026-05-29', '--to', '2026-05-30'];
    expect(await stats(place, ...before)).toMatchObject({ web: 3, total: 3 });
  });
});

test('counts that go into the database count among what arrives, unless they are only checked', async () => {
  const place = await placeWithProject();
  const lines = 'date,caller,count\n2024-01-01,web,5\n2024-01-02,web,6\n2024-01-03,we b,1\n';
  await importText(place, lines.replace('we b', 'web'), '--dry-run');
  await importText(place, lines);
  await importText(place, lines.replace('we b', 'web'));
  const store = await openForTest(`sqlite:${place.database}`);
  const [source, ...others] = await store.ingestion.sum(project, 0);
  expect(others).toEqual([]);
  expect(source).toMatchObject({
    ...{ kind: 'import', name: 'caller-stats import' },
    counts: { requests: 2, arrived: 6, recorded: 3, duplicates: 0, rejected: 3, unmatched: 0 },
  });
});
