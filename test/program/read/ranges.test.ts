/** The expected ranges of the sample over HTTP, from servers in different time zones. */
import { expect, test } from 'vitest';
import { clientOf } from '../../support/cli/cli-client.js';
import { makeKey, placeWithSample, project } from '../../support/cli/cli-place.js';
import { expected } from '../../support/sample.js';

test('every range has its expected counts after each restart, whatever TZ is', async () => {
  const place = await placeWithSample();
  const key = await makeKey(place, 'admin');
  expect(expected.ranges).toHaveLength(60);
  for (const env of [{}, { TZ: 'America/New_York' }, { TZ: 'Asia/Kathmandu' }]) {
    const server = await place.spawnServer([], { env });
    const client = clientOf(server, project, key);
    const answers = await Promise.all(
      expected.ranges.map(async ({ query }) => ({ query, ...(await client.count({ ...query })) })),
    );
    expect(answers).toEqual(
      expected.ranges.map(({ query, counts }) => ({ query, status: 200, body: counts })),
    );
    expect(await server.stop()).toMatchObject({ status: 0 });
  }
});
