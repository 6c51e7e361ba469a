/** `stats` over time and by caller, compared with a recount of the sample that uses the platform's time zones. */
import { describe, expect, test } from 'vitest';
import type { CallerCounts, Counts } from '../../../src/domain/counting/counts.js';
import type { Series } from '../../../src/domain/counting/series.js';
import { callerType } from '../../../src/domain/queries/caller.js';
import {
  emptyPlace,
  makeKey,
  placeWithProject,
  placeWithSample,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { localUnit } from '../../support/local-calendar.js';
import { eventsOf, expected, sampleLines } from '../../support/sample.js';

type Line = ReturnType<typeof eventsOf>[number];

/** The sample's queries without repetitions. */
function sampleQueries(): Line[] {
  const repeated = eventsOf(sampleLines()).toReversed();
  return [...new Map(repeated.map((line) => [line.id, line])).values()];
}

/** The counts of each group of lines. */
function grouped(lines: readonly Line[], nameOf: (line: Line) => string): Map<string, Counts> {
  const groups = new Map<string, Counts>();
  for (const line of lines) {
    const name = nameOf(line);
    const counts = { ...(groups.get(name) ?? { web: 0, api: 0, other: 0, total: 0 }) };
    counts[callerType(line.caller)]++;
    counts.total++;
    groups.set(name, counts);
  }
  return groups;
}

describe('stats refuses', () => {
  test.concurrent.each<[args: string[], message: RegExp]>([
    [
      ['--interval', 'x', '--time-zone', 'y', '--from', 'z'],
      /^caller-stats: --from: "z" is neither .+\ncaller-stats: --time-zone: "y" is not a time zone .+\ncaller-stats: --interval: "x" is not an interval; .+\n$/,
    ],
    [['--time-zone', ''], /^caller-stats: --time-zone: is empty/],
    [['--callers', '--interval', 'day'], /'--callers' cannot be used with option '--interval/],
    [['--callers', '--by', 'caller'], /'--callers' cannot be used with option '--by/],
    [['--chart'], /unknown option '--chart'/],
    [['--json', '--csv'], /'--csv' cannot be used with option '--json/],
  ])('%j', async (args, message) => {
    const place = await emptyPlace();
    expect(await refusal(place.run(['stats', project, ...args]), 2)).toMatch(message);
  });

  test.concurrent('too many buckets, with advice', async () => {
    const place = await placeWithProject();
    const args = ['--interval', 'hour', '--from', '2000-01-01', '--to', '2026-01-01'];
    expect(await refusal(place.run(['stats', project, ...args]), 1)).toBe(
      'caller-stats: The series has too many buckets.\n' +
        '  interval: hour makes more than 10000 buckets of this range; choose a wider interval or a smaller range\n',
    );
  });

  test.concurrent.each(['--callers', '--interval=day'])('an unknown project: %s', async (option) => {
    const place = await placeWithProject();
    expect(await place.run(['stats', 'other', option])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'caller-stats: There is no project other; see caller-stats project list.\n',
    });
  });
});

describe('stats over time', () => {
  test.concurrent.each([
    ['day', 'Europe/Berlin'],
    ['week', 'America/New_York'],
    ['month', 'Asia/Kathmandu'],
  ] as const)('equals a recount of the sample: each %s in %s', async (interval, timeZone) => {
    const place = await placeWithSample();
    const args = ['stats', project, '--interval', interval, '--time-zone', timeZone, '--json'];
    const { buckets } = JSON.parse((await succeed(place.run(args))).stdout) as Series;
    const recounted = grouped(sampleQueries(), ({ occurredAt }) =>
      localUnit(Date.parse(occurredAt), interval, timeZone),
    );
    const withQueries = buckets.filter(({ total }) => total > 0);
    expect(
      new Map(
        withQueries.map(({ start, end: _, ...counts }) => [
          localUnit(Date.parse(start), interval, timeZone),
          counts,
        ]),
      ),
    ).toEqual(recounted);
    expect(buckets.reduce((sum, { total }) => sum + total, 0)).toBe(expected.queries);
  });

  test.concurrent('prints a table or CSV', async () => {
    const place = await placeWithSample();
    const range = ['--from', '2024-01-15', '--to', '2024-03-01'];
    const args = ['stats', project, '--time-zone', 'UTC', '--interval', 'month', ...range];
    const { buckets } = JSON.parse((await succeed(place.run([...args, '--json']))).stdout) as Series;
    const [first, second] = buckets;
    const cells = (bucket = first) => [bucket?.web, bucket?.api, bucket?.other, bucket?.total].join();
    expect((await succeed(place.run([...args, '--csv']))).stdout).toBe(
      'start,end,web,api,other,total\r\n' +
        `2024-01-15T00:00:00.000+00:00,2024-02-01T00:00:00.000+00:00,${cells()}\r\n` +
        `2024-02-01T00:00:00.000+00:00,2024-03-01T00:00:00.000+00:00,${cells(second)}\r\n`,
    );
    const table = (await succeed(place.run(args))).stdout.split('\n');
    expect(table[0]).toMatch(/^START +END +WEB +API +OTHER +TOTAL$/);
    expect(table[1]?.split(/ +/)).toEqual([first?.start, first?.end, ...cells().split(',')]);
    expect(table).toHaveLength(4);
  });
});

describe('stats by caller', () => {
  test.concurrent('equals a recount of the sample', async () => {
    const place = await placeWithSample();
    const { total, callers } = JSON.parse(
      (await succeed(place.run(['stats', project, '--callers', '--json']))).stdout,
    ) as CallerCounts;
    const recounted = grouped(sampleQueries(), ({ caller }) => caller);
    expect(total).toBe(expected.queries);
    expect(new Map(callers.map(({ caller, count }) => [caller, count]))).toEqual(
      new Map([...recounted].map(([caller, counts]) => [caller, counts.total])),
    );
    expect(callers.map(({ count }) => count)).toEqual(
      callers.map(({ count }) => count).sort((a, b) => b - a),
    );
    const csv = (await succeed(place.run(['stats', project, '--callers', '--csv']))).stdout;
    expect(csv).toBe(
      ['caller,type,count', ...callers.map((one) => Object.values(one).join()), ''].join('\r\n'),
    );
    const table = (await succeed(place.run(['stats', project, '--callers']))).stdout.split('\n');
    expect(table[0]).toMatch(/^CALLER +TYPE +COUNT$/);
    expect(table).toHaveLength(callers.length + 2);
  });
});

test('stats --url prints the same in every format', async () => {
  const place = await placeWithSample();
  const key = await makeKey(place, 'admin');
  const server = await place.serve();
  const env = { CALLER_STATS_KEY: key, DATABASE_URL: 'sqlite:./missing.db' };
  for (const what of [['--callers'], ['--interval', 'month', '--time-zone', 'Europe/Berlin'], []]) {
    for (const form of [[], ['--json'], ['--csv']]) {
      const range = ['--from', '2024-01-01', '--to', '2024-07-01T00:00+02:00'];
      const args = ['stats', project, ...what, ...form, ...range];
      const own = await succeed(place.run(args));
      expect(await place.run([...args, '--url', server.url], { env })).toEqual(own);
    }
  }
  const misspelt = ['stats', project, '--caller', 'git-cil'];
  for (const { stdout, stderr } of [
    await place.run(misspelt),
    await place.run([...misspelt, '--url', server.url], { env }),
  ])
    expect([stdout.match(/total +(\d+)/)?.[1], stderr]).toEqual([
      '0',
      'no query of the caller git-cil was ever recorded in this project; did you mean git-cli?\n',
    ]);
});
