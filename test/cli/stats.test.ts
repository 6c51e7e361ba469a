import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inGroups } from '../support/cli.js';
import {
  emptyPlace,
  makeKey,
  placeWithProject,
  placeWithSample,
  project,
  succeed,
} from '../support/cli-place.js';
import { expected } from '../support/sample.js';

type Range = (typeof expected.ranges)[number];

function argsOf({ query: { dateFrom, dateTo } }: Range): string[] {
  return [
    ...['stats', project, '--json'],
    ...(dateFrom === undefined ? [] : ['--from', dateFrom]),
    ...(dateTo === undefined ? [] : ['--to', dateTo]),
  ];
}

/** A dozen: dates alone, which a server's own time zone would move most, and date-times of each form. */
const dozen = expected.ranges.filter((_range, at) => at % 5 === 1 || at === 3);

describe('stats', () => {
  test.concurrent('gives all expected ranges of the sample', async () => {
    const place = await placeWithSample();
    const answers = await inGroups(expected.ranges, 4, async (range) => {
      const { stdout } = await succeed(place.run(argsOf(range)));
      return { query: range.query, counts: JSON.parse(stdout) as unknown };
    });
    expect(answers).toHaveLength(60);
    expect(answers).toEqual(expected.ranges);
  });

  test.concurrent.each(['America/New_York', 'Asia/Kathmandu'])(
    'gives the same where TZ is %s',
    async (TZ) => {
      expect(
        dozen.filter(({ query }) => Object.values(query).some((bound) => bound.length === 10)).length,
      ).toBeGreaterThan(2);
      const place = await placeWithSample();
      const answers = await inGroups(dozen, 4, async (range) => {
        const { stdout } = await succeed(place.spawn(argsOf(range), { env: { TZ } }));
        return { query: range.query, counts: JSON.parse(stdout) as unknown };
      });
      expect(answers).toEqual(dozen);
    },
  );

  test.concurrent('prints a table for people', async () => {
    const place = await placeWithSample();
    expect(await place.run(['stats', project])).toEqual({
      status: 0,
      signal: null,
      stdout: 'web    12,447\napi     2,530\nother  15,292\ntotal  30,269\n',
      stderr: '',
    });
  });

  test('asks a running server', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    const server = await place.serve();
    const env = { CALLER_STATS_KEY: key, DATABASE_URL: 'sqlite:./missing.db' };
    const answers = await inGroups(dozen.slice(0, 4), 4, async (range) => {
      const { stdout } = await succeed(place.run([...argsOf(range), '--url', server.url], { env }));
      return { query: range.query, counts: JSON.parse(stdout) as unknown };
    });
    expect(answers).toEqual(dozen.slice(0, 4));
    const refused = await place.run(['stats', 'other', '--url', server.url], { env });
    expect(refused).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'caller-stats: The server answered 404: There is no such project.\n',
    });
  });
});

describe('stats refuses', () => {
  test.concurrent('two bad bounds, each by its name', async () => {
    const place = await placeWithProject();
    const { status, stdout, stderr } = await place.run([
      'stats',
      project,
      '--from',
      '2026-02-30',
      '--to',
      '',
    ]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^caller-stats: --from: "2026-02-30" is not a date/),
      expect.stringMatching(/^caller-stats: --to: is empty/),
      '',
    ]);
  });

  test.concurrent('bounds the wrong way round', async () => {
    const place = await placeWithProject();
    const { status, stderr } = await place.run([
      'stats',
      project,
      '--from',
      '2026-02-02',
      '--to',
      '2026-02-01',
    ]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^caller-stats: --from: is later than --to/);
  });

  test.concurrent('an unknown project', async () => {
    const place = await placeWithProject();
    const { status, stdout, stderr } = await place.run(['stats', 'other']);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^caller-stats: There is no project other/);
  });
});

test.concurrent.each([
  `stats ${project}`,
  'verify',
  'project list',
  'key list',
  'key revoke x',
  'key create --name x',
  `import - --project ${project}`,
])('%s on a missing database says so and makes none', async (command) => {
  const place = await emptyPlace();
  const { status, stdout, stderr } = await place.run(command.split(' '));
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toBe(
    `caller-stats: There is no database ${place.database}; serve or project create makes one.\n`,
  );
  expect(existsSync(place.database)).toBe(false);
});
