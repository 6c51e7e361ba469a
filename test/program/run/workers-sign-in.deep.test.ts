/**
 * Sign-in with `--workers`. The quick run shows the same on several servers of one database (`test/program/sign-in`,
 * `test/program/dashboard/guessing.test.ts`): all state is in the store, and workers share nothing else.
 */
import { expect, test } from 'vitest';
import { guessesMax } from '../../../src/domain/limits.js';
import { matched } from '../../support/cli/cli.js';
import { emptyPlace } from '../../support/cli/cli-place.js';

const email = 'ada@example.org';

test('one set-up, sessions that hold and end in all processes, and one limit of failures', async () => {
  const place = await emptyPlace();
  const server = await place.spawnServer(['--workers', '2', '--log-level', 'debug']);
  const token = matched(server.stdout, /\/set-up#(\S+)$/m);
  const send = (path: string, body?: object, cookie = '') =>
    fetch(`${server.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      // A new connection each time, so that the workers take turns.
      headers: { 'content-type': 'application/json', origin: server.url, connection: 'close', cookie },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const owner = { token, name: 'Ada', email, password: 'seven mountains over sunshine' };
  const answers = await Promise.all(Array.from({ length: 4 }, () => send('/api/set-up', owner)));
  const [created, ...more] = answers.filter(({ status }) => status === 204);
  expect(more).toEqual([]);
  const cookie = (created?.headers.getSetCookie() ?? []).map((one) => one.split(';')[0]).join('; ');
  const statuses = async () =>
    (await Promise.all(Array.from({ length: 8 }, () => send('/api/sessions', undefined, cookie)))).map(
      ({ status }) => status,
    );
  expect(await statuses()).toEqual(new Array(8).fill(200));
  const guesses: number[] = [];
  for (let at = 0; at < guessesMax + 3; at++)
    guesses.push((await send('/api/sign-in', { email, password: `wrong guess ${at}` })).status);
  expect(guesses).toEqual([...new Array(guessesMax).fill(401), 429, 429, 429]);
  expect((await send('/api/sign-out', {}, cookie)).status).toBe(204);
  expect(await statuses()).toEqual(new Array(8).fill(401));
  const { stderr } = await server.stop();
  const pids = stderr.matchAll(/"pid":(\d+).*"request completed"/g);
  expect(new Set([...pids].map(([, pid]) => pid)).size).toBe(2);
});
