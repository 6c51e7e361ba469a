import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inGroups, type Outcome } from '../../support/cli/cli.js';
import {
  emptyPlace,
  makeKey,
  placeWithProject,
  placeWithSample,
  project,
  refusal,
  succeed,
} from '../../support/cli/cli-place.js';
import { startHttpServer } from '../../support/http-server.js';
import { expected } from '../../support/sample.js';
import { isDeep } from '../../support/volume.js';

/** Clears a terminal, sets its title, and begins a sequence with one character only. */
const ESCAPES = '\u001b[2J\u001b]0;evil\u0007\u009b31m\u007f\revil\b\nevil';

type Range = (typeof expected.ranges)[number];

function argsOf({ query: { dateFrom, dateTo } }: Range): string[] {
  return [
    ...['stats', project, '--json'],
    ...(dateFrom === undefined ? [] : ['--from', dateFrom]),
    ...(dateTo === undefined ? [] : ['--to', dateTo]),
  ];
}

/** Runs `stats` for ranges, and expects the counts of each. */
async function expectCounts(
  ranges: readonly Range[],
  run: (args: readonly string[]) => Promise<Outcome>,
): Promise<void> {
  const answers = await inGroups(ranges, 4, async (range) => {
    const { stdout } = await succeed(run(argsOf(range)));
    return { query: range.query, counts: JSON.parse(stdout) as unknown };
  });
  expect(answers).toEqual(ranges);
}

/** A dozen: dates without times, which a time zone would move most, and date-times of each form. */
const dozen = expected.ranges.filter((_range, at) => at % 5 === 1 || at === 3);
const isDate = (bound: string) => bound.length === 10;
const withDates = dozen.filter(({ query }) => Object.values(query).some(isDate));

describe('stats', () => {
  test.concurrent('prints the expected counts of every range of the sample', async () => {
    const place = await placeWithSample();
    expect(expected.ranges).toHaveLength(60);
    await expectCounts(expected.ranges, place.run);
  });

  test.concurrent.each(['America/New_York', 'Asia/Kathmandu'])('ignores TZ=%s', async (TZ) => {
    expect(withDates.length).toBeGreaterThan(2);
    const place = await placeWithSample();
    await expectCounts(isDeep ? dozen : withDates.slice(0, 3), (args) => place.spawn(args, { env: { TZ } }));
  });

  test.concurrent('prints a table', async () => {
    const place = await placeWithSample();
    expect(await place.run(['stats', project])).toEqual({
      status: 0,
      signal: null,
      stdout: 'web    12,447\napi     2,530\nother  15,292\ntotal  30,269\n',
      stderr: '',
    });
  });

  test('--url reads no answer without end', async () => {
    const place = await emptyPlace();
    let sent = 0;
    const url = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const more = (): void => {
        while (!response.destroyed && response.write(' '.repeat(1 << 20))) sent++;
        response.once('drain', more);
      };
      more();
    });
    const env = { CALLER_STATS_KEY: 'cs_admin_x' };
    const { status, stderr } = await place.run(['stats', 'docs', '--url', url], { env });
    expect([status, stderr]).toEqual([1, expect.stringMatching(/longer than \d+ bytes/)]);
    expect(sent).toBeLessThan(200);
  });

  test('--url asks a running server', async () => {
    const place = await placeWithSample();
    const key = await makeKey(place, 'admin');
    const { url } = await place.serve();
    const env = { CALLER_STATS_KEY: key, DATABASE_URL: 'sqlite:./missing.db' };
    await expectCounts(dozen.slice(0, 4), (args) => place.run([...args, '--url', url], { env }));
    expect(await place.run(['stats', 'other', '--url', url], { env })).toMatchObject({
      status: 1,
      stdout: '',
      stderr: 'caller-stats: The server answered 404: There is no such project.\n',
    });
  });

  test.each([
    ['in a count', 200, { callers: [{ caller: ESCAPES, type: 'other', count: 1 }], total: 1 }],
    ['in an error', 400, { error: `${ESCAPES}.` }],
  ])('a terminal gets no control characters that a server sends %s', async (_what, status, body) => {
    const url = await startHttpServer((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const place = await emptyPlace();
    const env = { CALLER_STATS_KEY: `cs_admin_${'x'.repeat(49)}` };
    for (const form of [[], ['--csv'], ['--json']]) {
      const { stdout, stderr } = await place.run(['stats', 'docs', '--callers', '--url', url, ...form], {
        env,
      });
      expect(stdout + stderr).toContain('evil');
      expect((stdout + stderr).replaceAll(/\r?\n/g, '')).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe('stats refuses', () => {
  test.concurrent.each([
    [
      'two invalid bounds, naming each',
      ['--from', '2026-02-30', '--to', ''],
      /^caller-stats: --from: "2026-02-30" is not a date.*\ncaller-stats: --to: is empty.*\n$/,
    ],
    [
      'a start after the end',
      ['--from', '2026-02-02', '--to', '2026-02-01'],
      /^caller-stats: --from: is later than --to/,
    ],
  ])('%s', async (_what, bounds, message) => {
    const place = await placeWithProject();
    expect(await refusal(place.run(['stats', project, ...bounds]), 2)).toMatch(message);
  });

  test.concurrent('an unknown project', async () => {
    const place = await placeWithProject();
    expect(await refusal(place.run(['stats', 'other']), 1)).toMatch(
      /^caller-stats: There is no project other/,
    );
  });
});

test.concurrent.each([
  `stats ${project}`,
  'verify',
  'project list',
  'audit',
  'mcp',
  'backup b',
  'member invite a@example.org --without-link',
  'member list',
  'member remove a@example.org',
  'key list',
  'key create --name x',
  'key revoke x',
  'key disable x',
  'key enable x',
  `import - --project ${project}`,
])('%s refuses a missing database and does not create one', async (command) => {
  const place = await emptyPlace();
  const stderr = await refusal(place.run(command.split(' ')), 1);
  expect(stderr).toContain(`caller-stats: There is no database ${place.database}`);
  expect(existsSync(place.database)).toBe(false);
});
