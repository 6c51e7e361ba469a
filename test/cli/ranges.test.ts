/** The sample's ranges over HTTP, from servers that live in different time zones, before and after a restart. */
import { expect, test } from 'vitest';
import type { Server } from '../support/cli.js';
import { clientOf } from '../support/cli-client.js';
import { makeKey, placeWithSample, project } from '../support/cli-place.js';
import { expected } from '../support/sample.js';

async function answersOf(server: Server, key: string) {
  const client = clientOf(server, project, key);
  return Promise.all(
    expected.ranges.map(async ({ query }) => {
      const { status, body } = await client.count({ ...query });
      expect(status).toBe(200);
      return { query, counts: body };
    }),
  );
}

test.each<[string, Record<string, string>]>([
  ['not set', {}],
  ['America/New_York', { TZ: 'America/New_York' }],
  ['Asia/Kathmandu', { TZ: 'Asia/Kathmandu' }],
])('all expected ranges come back exact where TZ is %s, and again after a restart', async (_zone, env) => {
  const place = await placeWithSample();
  const key = await makeKey(place, 'admin');
  for (const _start of ['first', 'again']) {
    const server = await place.serve([], { env });
    const answers = await answersOf(server, key);
    expect(answers).toHaveLength(60);
    expect(answers).toEqual(expected.ranges);
    expect(await server.stop()).toMatchObject({ status: 0 });
  }
});
