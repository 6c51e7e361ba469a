/** Retention as operators see it: servers remove rows, counts stay, and what cannot be done any more is said. */
import { expect, test } from 'vitest';
import { clientOf } from '../support/cli-client.js';
import { jsonOf } from '../support/cli-keys.js';
import { firstRow, makeKey, type Place, placeWithSample, project, succeed } from '../support/cli-place.js';
import { copy, opened } from '../support/copy.js';
import { eventually } from '../support/nodes.js';
import { projectOf } from '../support/store.js';

const rowsIn = (place: Place) => Number(firstRow(place, 'SELECT count(*) AS rows FROM query')['rows']);
const url = (place: Place, file: string) => `sqlite:${place.path(file)}`;

const retain = (place: Place, days: string) =>
  succeed(place.run(['project', 'change', project, '--retention-days', days]));

/** The sample, of which a server has removed all rows: it is older than a day. */
async function placeWithoutRows(): Promise<Place> {
  const place = await placeWithSample();
  const server = await place.serve();
  await retain(place, '1');
  await eventually(async () => (rowsIn(place) === 0 ? true : undefined));
  expect((await server.stop()).stderr).not.toMatch(/"level":[456]0/);
  return place;
}

test('a running server removes the rows and leaves the counts; older queries are refused from then on', async () => {
  const before = await placeWithSample();
  const counts = await jsonOf(before, ['stats', project]);
  const place = await placeWithoutRows();
  expect(await jsonOf(place, ['stats', project])).toEqual(counts);
  expect((await succeed(place.run(['verify']))).stdout).toMatch(/^0 queries in 1 project: every counter is/);
  const [listed] = await jsonOf<{ rowsFrom: string }[]>(place, ['project', 'list']);
  expect(listed).toMatchObject({
    retentionDays: 1,
    rowsFrom: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/),
  });
  const input = '{"id": "a", "caller": "web", "occurredAt": "2020-01-01T00:00:00Z"}';
  const refused = await place.run(['import', '-', '--project', project], { input });
  expect(refused).toMatchObject({ status: 1 });
  expect(refused.stderr).toContain(`one of its queries is from before ${listed?.rowsFrom}`);
  const server = await place.serve();
  const client = clientOf(server, project, await makeKey(place, 'admin'));
  expect(await client.record([JSON.parse(input) as object])).toMatchObject({ status: 400 });
  expect(await client.record([{ id: 'a', caller: 'web' }])).toMatchObject({ status: 200 });
});

test('copy refuses a project whose old rows are gone, on either side, and copies a retention that has removed none', async () => {
  const place = await placeWithoutRows();
  const refused = await copy(place, `sqlite:${place.database}`, url(place, 'other.db'));
  expect(refused).toMatchObject({ status: 1, stdout: '' });
  expect(refused.stderr).toMatch(
    /source .+: The retention of the project docs in .+ cannot be copied|The retention of the project docs in/,
  );

  const full = await placeWithSample();
  await retain(full, '1');
  const into = await copy(full, `sqlite:${full.database}`, `sqlite:${place.database}`);
  expect(into).toMatchObject({ status: 1, stdout: '' });
  expect(into.stderr).toContain('The retention of the project docs in');

  const made = await copy(full, `sqlite:${full.database}`, url(full, 'other.db'));
  expect(made).toMatchObject({ status: 0 });
  const target = await opened(url(full, 'other.db'));
  expect(await target.listProjects('default')).toEqual([
    projectOf(project, { name: 'Docs', retentionDays: 1, createdAt: expect.any(Number) }),
  ]);
  const again = await copy(full, `sqlite:${full.database}`, url(full, 'other.db'));
  expect(again).toMatchObject({ status: 0 });
});
