/** Several processes on the same database. */
import { expect, test } from 'vitest';
import { batchOf, clientOf } from '../../support/cli/cli-client.js';
import { makeKey, type Place, placeWithProject, project, succeed } from '../../support/cli/cli-place.js';
import { sampleCounts, sampleFile } from '../../support/sample.js';

interface Totals {
  readonly read: number;
  readonly recorded: number;
  readonly duplicates: number;
}

async function importSample(place: Place): Promise<Totals> {
  const { stdout } = await succeed(place.run(['import', sampleFile, '--project', project, '--json']));
  return JSON.parse(stdout) as Totals;
}

test('simultaneous imports of the same file record each query once', async () => {
  const place = await placeWithProject();
  const totals = await Promise.all([importSample(place), importSample(place), importSample(place)]);
  for (const { read, recorded, duplicates } of totals) {
    expect(read).toBe(30_874);
    expect(recorded + duplicates).toBe(30_874);
  }
  expect(totals.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(30_269);
  const { stdout } = await succeed(place.run(['stats', project, '--json']));
  expect(JSON.parse(stdout)).toEqual(sampleCounts);
  await succeed(place.run(['verify']));
});

test('an import while a server records loses nothing and counts nothing twice', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const server = await place.spawnServer();
  const client = clientOf(server, project, key);
  let importing = true;
  const imported = importSample(place).finally(() => {
    importing = false;
  });
  let batches = 0;
  while (importing) {
    expect(await client.record(batchOf(batches++, 20))).toEqual({
      status: 200,
      body: { recorded: 20, duplicates: 0 },
    });
  }
  expect(await imported).toMatchObject({ recorded: 30_269, duplicates: 605 });
  expect(batches).toBeGreaterThan(0);
  expect((await client.count()).body.total).toBe(30_269 + batches * 20);
  await succeed(place.run(['verify']));
  expect(await server.stop()).toMatchObject({ status: 0 });
});

test('two servers on one database immediately count what the other recorded', async () => {
  const place = await placeWithProject();
  const key = await makeKey(place, 'admin');
  const servers = await Promise.all([place.spawnServer(), place.spawnServer()]);
  const [first, second] = servers.map((server) => clientOf(server, project, key));
  for (let number = 0; number < 10; number++) {
    const answers = await Promise.all([first, second].map((client) => client?.record(batchOf(number, 20))));
    expect(answers.map((answer) => answer?.body.recorded).toSorted()).toEqual([0, 20]);
    const counts = await Promise.all([first, second].map((client) => client?.count()));
    expect(counts.map((answer) => answer?.body.total)).toEqual([(number + 1) * 20, (number + 1) * 20]);
  }
});
