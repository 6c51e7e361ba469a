/** Retention for operators: servers remove rows and keep counts, and commands explain what is no longer possible. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { dayMs } from '../../../src/domain/time/duration.js';
import { sharedByTests } from '../../support/cleanup.js';
import { clientOf } from '../../support/cli/cli-client.js';
import { jsonOf } from '../../support/cli/cli-keys.js';
import {
  alter,
  copyOf,
  firstRow,
  makeKey,
  type Place,
  placeWithSample,
  project,
  succeed,
} from '../../support/cli/cli-place.js';
import { copy, opened } from '../../support/cli/copy.js';
import { kill } from '../../support/cli/process.js';
import { projectOf } from '../../support/storage/store.js';

const shiftedClock = fileURLToPath(new URL('../../faults/preload/shifted-clock.mjs', import.meta.url));

const url = (place: Place, file: string) => `sqlite:${place.path(file)}`;

/** All of the sample is older. */
function retainOneDay(place: Place) {
  return succeed(place.run(['project', 'change', project, '--retention-days', '1']));
}

/** The sample, with a retention that no server has applied yet. */
async function placeWithRetention(): Promise<Place> {
  const place = await placeWithSample();
  await retainOneDay(place);
  return place;
}

describe('after a running server has applied the retention', () => {
  const shared = sharedByTests(async () => {
    const place = await placeWithSample();
    const counts = await jsonOf(place, ['stats', project]);
    const server = await place.serve();
    await retainOneDay(place);
    await server.logged(/rows of queries older than the retention of their project were removed/);
    expect((await server.stop()).stderr).not.toMatch(/"level":[456]0/);
    return { place, counts };
  });

  test('the rows are gone, the counts stay, and older queries are refused', async () => {
    const { counts, place: template } = shared();
    const place = await copyOf(template);
    expect(firstRow(place, 'SELECT count(*) AS rows FROM query')).toEqual({ rows: 0 });
    expect(await jsonOf(place, ['stats', project])).toEqual(counts);
    expect((await succeed(place.run(['verify']))).stdout).toMatch(
      /^0 queries in 1 project: every counter is/,
    );
    const [listed] = await jsonOf<{ rowsFrom: string }[]>(place, ['project', 'list']);
    expect(listed).toMatchObject({
      retentionDays: 1,
      rowsFrom: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/),
    });
    const input = '{"id": "a", "caller": "web", "occurredAt": "2020-01-01T00:00:00Z"}';
    const refused = await place.run(['import', '-', '--project', project], { input });
    expect(refused).toMatchObject({ status: 1 });
    expect(refused.stderr).toContain(`queries[0]: occurredAt: lies before ${listed?.rowsFrom}`);
    const key = await makeKey(place, 'admin');
    const client = clientOf(await place.serve(), project, key);
    expect(await client.record([JSON.parse(input) as object])).toMatchObject({ status: 400 });
    expect(await client.record([{ id: 'a', caller: 'web' }])).toMatchObject({ status: 200 });
  });

  test('copy refuses the project, as source and as target', async () => {
    const { place } = shared();
    const full = await placeWithRetention();
    for (const [from, to] of [
      [place, url(place, 'other.db')],
      [full, `sqlite:${place.database}`],
    ] as const) {
      const refused = await copy(from, `sqlite:${from.database}`, to);
      expect(refused).toMatchObject({ status: 1, stdout: '' });
      expect(refused.stderr).toContain('The retention of the project docs in');
    }
  });
});

test('copy copies a retention that has not removed anything yet, and can be repeated', async () => {
  const place = await placeWithRetention();
  for (const _run of ['first', 'second'])
    await succeed(copy(place, `sqlite:${place.database}`, url(place, 'other.db')));
  const target = await opened(url(place, 'other.db'));
  expect(await target.directory.listProjects('default')).toEqual([
    projectOf(project, { name: 'Docs', retentionDays: 1, createdAt: expect.any(Number) }),
  ]);
});

test('a server whose clock starts ten years ahead removes no row, says so, and goes on when the clock is right', async () => {
  const place = await placeWithSample();
  await succeed(place.run(['project', 'change', project, '--retention-days', '5000']));
  const rows = firstRow(place, 'SELECT count(*) AS rows FROM query');
  const server = await place.spawnServer([], {
    env: {
      NODE_OPTIONS: `--import=${shiftedClock}`,
      FAULT_CLOCK_START: String(3650 * dayMs),
      FAULT_CLOCK_SHIFTS: '0',
    },
  });
  await server.logged(/the clock is far ahead of everything in the database/);
  kill(server.pid, 'SIGUSR2');
  await server.logged(/the clock is right again/);
  expect((await server.stop()).stderr).not.toMatch(/were removed/);
  expect(firstRow(place, 'SELECT count(*) AS rows FROM query')).toEqual(rows);
});

test('a server says when it takes back what a clock that was ahead did', async () => {
  const place = await placeWithSample();
  await retainOneDay(place);
  alter(place, 'UPDATE project SET rows_from = 2524608000000');
  const server = await place.serve();
  await server.logged(/a wrong clock had put the start of the kept rows into the future: it is 20/);
  await server.stop();
});
