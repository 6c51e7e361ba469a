/** The reader against a real server: errors first, then results. */
import { describe, expect, test } from 'vitest';
import {
  AuthenticationError,
  CallerStatsError,
  ConnectionError,
  createReader,
  createRecorder,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from '../../../clients/javascript/src/index.js';
import { sharedByTests } from '../../support/cleanup.js';
import { firstRunOf, startServer } from '../../support/cli/cli.js';

import { emptyPlace, succeed } from '../../support/cli/cli-place.js';
import { answer, never } from '../../support/client/client-platform.js';
import { freePort } from '../../support/free-port.js';

const service = sharedByTests(async () => {
  const place = await emptyPlace();
  const server = await startServer([], { env: place.env, cwd: place.folder });
  const { project, admin, recording } = firstRunOf(server);
  const made = await succeed(place.run(['key', 'create', '--name', 'Elsewhere', '--allow', '192.0.2.1']));
  const recorder = createRecorder({ url: server.url, projectId: project, key: recording });
  recorder.record({ id: 'a', caller: 'web', occurredAt: '2026-01-01T00:00:00Z' });
  recorder.record({ id: 'b', caller: 'slack', occurredAt: new Date('2026-01-02T12:00:00Z') });
  recorder.record({ id: 'b', caller: 'slack' });
  expect(await recorder.close()).toBe(true);
  expect(recorder.stats).toMatchObject({ recorded: 2, duplicates: 1, dropped: 0 });
  return { url: server.url, project, admin, elsewhere: made.stdout.trim(), server };
});

/** The error that a promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it did not reject'),
    (error: unknown) => error,
  );
}

describe('errors are classes with the messages of the server', () => {
  test.each([
    ['of a parameter', { from: '2026-02-30' }, InvalidRequestError, 400, /dateFrom/],
    ['of a project', { projectId: 'no/where' }, NotFoundError, 404, /project/],
  ] as const)('%s', async (_, asked, ErrorClass, status, words) => {
    const { url, admin, project } = service();
    const reader = createReader({ url, key: admin });
    const error = await errorOf(reader.callerStats({ projectId: project, ...asked }));
    expect(error).toBeInstanceOf(ErrorClass);
    expect(error).toBeInstanceOf(CallerStatsError);
    expect(error).toMatchObject({ status, name: ErrorClass.name });
    expect(String(error)).toMatch(words);
    if (status === 400) expect((error as CallerStatsError).details).toEqual([expect.stringMatching(words)]);
  });

  test('for invalid keys', async () => {
    const { url, elsewhere, project } = service();
    const unknown = await errorOf(createReader({ url, key: 'cs_admin_x' }).callers({ projectId: project }));
    expect(unknown).toBeInstanceOf(AuthenticationError);
    const refused = await errorOf(createReader({ url, key: elsewhere }).callers({ projectId: project }));
    expect(refused).toBeInstanceOf(PermissionError);
  });

  test('for rate limits and failing servers', async () => {
    const answering = (response: () => Response) =>
      errorOf(
        createReader({
          url: 'http://stats.test',
          key: 'key',
          platform: { fetch: async () => response() },
        }).callerStats({ projectId: 'docs' }),
      );
    const limited = await answering(() => answer(429, { error: 'Wait.' }, { 'retry-after': '3' }));
    expect(limited).toBeInstanceOf(RateLimitError);
    expect(limited).toMatchObject({ message: 'Wait.', retryAfterMs: 3000 });
    const failed = await answering(() => new Response('<h1>Bad Gateway</h1>', { status: 502 }));
    expect(failed).toBeInstanceOf(ServerError);
    expect(failed).toMatchObject({
      status: 502,
      message: 'The server answered 502, not as caller-stats does: <h1>Bad Gateway</h1>',
    });
    const foreign = await answering(() => new Response('<h1>Welcome</h1>'));
    expect(String(foreign)).toMatch(/answered 200, not as caller-stats does: <h1>Welcome/);
  });

  test('for refused connections, timeouts and aborted requests', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const refused = await errorOf(createReader({ url, key: 'key' }).callerStats({ projectId: 'docs' }));
    expect(refused).toBeInstanceOf(ConnectionError);
    expect(String(refused)).toContain('ECONNREFUSED');
    const silent = {
      url,
      key: 'key',
      platform: { fetch: (_: string, init: RequestInit) => never(init.signal) },
    };
    const late = await errorOf(createReader({ ...silent, timeoutMs: 1 }).callerStats({ projectId: 'docs' }));
    expect(late).toBeInstanceOf(ConnectionError);
    const abort = new AbortController();
    const asked = createReader(silent).callerStats({ projectId: 'docs', signal: abort.signal });
    abort.abort(new Error('no longer wanted'));
    expect(await errorOf(asked)).toEqual(new Error('no longer wanted'));
  });

  test('an invalid URL is refused at once', () => {
    expect(() => createReader({ url: 'stats', key: 'key' })).toThrow(RangeError);
  });

  test('a malformed key is refused at once and not repeated in the message', () => {
    expect(() => createReader({ url: 'https://stats.test', key: 'secret\nkey' })).toThrow(
      /^key: (?!.*secret)/,
    );
  });
});

test('it reads counts, series and callers, with ranges of strings and dates', async () => {
  const { url, admin, project: projectId } = service();
  const reader = createReader({ url: `${url}/`, key: admin });
  expect(await reader.callerStats({ projectId })).toEqual({ web: 1, api: 0, other: 1, total: 2 });
  const from = new Date('2026-01-01T00:00:00.001Z');
  expect(await reader.callerStats({ projectId, from, to: '2026-01-03' })).toMatchObject({ web: 0, total: 1 });
  expect(await reader.callers({ projectId, from })).toMatchObject({
    callers: [{ caller: 'slack', count: 1 }],
  });
  const series = await reader.series({
    projectId,
    from: '2026-01-01',
    to: '2026-02-01',
    interval: 'month',
    timeZone: 'Europe/Berlin',
  });
  expect(series.buckets.map(({ total }) => total)).toEqual([2]);
});
