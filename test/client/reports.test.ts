/** What a recorder prints if nobody takes its errors and drops. */
import { describe, expect, test } from 'vitest';
import type { Query } from '../../clients/javascript/src/query.js';
import type { RecorderOptions } from '../../clients/javascript/src/recorder-options.js';
import { answer } from '../support/client/client-platform.js';
import { ok, recorderWith, status } from '../support/client/client-recorder.js';

type Answers = Parameters<typeof recorderWith>[0];

const broken = (): Response => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};
const ahead = [{ message: "queries[0]: occurredAt: lies more than a day ahead of the server's clock" }];

/** A recorder without callbacks. */
const silent = (answers: Answers, options: Partial<RecorderOptions> = {}) =>
  recorderWith(answers, { onDrop: undefined, onError: undefined, ...options } as Partial<RecorderOptions>);

const intro = 'caller-stats: a request to http://stats.test for project docs failed:';

test.each<[string, Answers[number], string]>([
  [
    'no answer',
    broken,
    'No response from http://stats.test: connect ECONNREFUSED Check url, and that the server runs. Queries wait.',
  ],
  ['a wrong key', status(401), 'No. Check key. Queries wait.'],
  ['a wrong project', status(404), 'No. Check projectId and url. '],
  [
    'a page',
    () => new Response('<h1>Sign in'),
    'The server answered 200, not as caller-stats does: <h1>Sign in Check url.',
  ],
  [
    'another answer',
    () => answer(200, { ok: true }),
    'The server answered 200, but not for these queries. Check url. ',
  ],
  ['null', () => answer(200, null), 'The server answered 200, but not for these queries. Check url. '],
  ['an error of the server', status(500), 'No. Queries wait.'],
])('%s is printed once, and once that requests work again', async (_, fail, text) => {
  const { recorder, platform } = silent([fail, fail, fail, ok, fail, ok], { batchMax: 1 });
  recorder.record({ id: 'a', caller: 'web' });
  recorder.record({ id: 'b', caller: 'web' });
  expect(await platform.until(recorder.flush({ timeoutMs: 10_000_000 }))).toBe(true);
  expect(platform.warnings).toEqual([
    expect.stringContaining(`${intro} ${text}`),
    'caller-stats: requests to http://stats.test work again.',
  ]);
  expect(recorder.stats).toMatchObject({ recorded: 2, failures: 4 });
});

test('a failure that comes back after hours is printed again', async () => {
  const { recorder, platform } = silent([broken, ok, broken, ok]);
  for (const id of ['a', 'b', 'c']) {
    recorder.record({ id, caller: 'web' });
    await platform.until(recorder.flush());
    platform.nowMs += 2 * 3_600_000;
  }
  const [failed, works] = [expect.stringContaining(intro), expect.stringContaining('work again')];
  expect(platform.warnings).toEqual([failed, works]);
  recorder.record({ id: 'd', caller: 'web' });
  await platform.until(recorder.flush());
  expect(platform.warnings).toEqual([failed, works]);
});

describe('what is not counted is printed once for each cause:', () => {
  test.each<[string, unknown, string]>([
    ['a caller', { id: 'a', caller: 'Slack' }, 'caller: "Slack" is not "web", "api" or a name'],
    ['a numeric id', { id: 7, caller: 'web' }, 'id: 7 is not a string of 1 to 128 characters'],
    ['no query', undefined, 'id: undefined is not a string'],
  ])('%s', async (_, query, text) => {
    const { recorder, platform } = silent([ok]);
    for (let times = 0; times < 3; times++) recorder.record(query as Query);
    expect(platform.warnings).toEqual([
      expect.stringContaining(`caller-stats: 1 query is not counted (invalid): ${text}`),
    ]);
    expect(recorder.stats.dropped).toBe(3);
  });

  test('a wrong clock', async () => {
    const { recorder, platform } = silent([() => answer(400, { error: 'No.', details: ahead })], {
      batchMax: 1,
    });
    for (const id of ['a', 'b']) recorder.record({ id, caller: 'web' });
    await platform.until(recorder.flush());
    expect(platform.warnings).toEqual([
      `caller-stats: 1 query is not counted (refused): ${ahead[0]?.message}. Is the clock right?`,
    ]);
  });

  test('a full queue, in each outage', async () => {
    const { recorder, platform } = silent([broken, ok, broken, ok], { queueMax: 1, delayMs: 0 });
    const full = expect.stringContaining('(queue-full): 1 queries are waiting already');
    for (const id of ['a', 'b', 'c']) recorder.record({ id, caller: 'web' });
    expect(platform.warnings).toEqual([full]);
    await platform.until(recorder.flush());
    platform.nowMs += 2 * 3_600_000;
    for (const id of ['d', 'e', 'f']) recorder.record({ id, caller: 'web' });
    expect(platform.warnings.at(-1)).toEqual(full);
    expect(platform.warnings).toHaveLength(4);
  });
});

test('a recorder that is closed in vain prints one line, with how many are lost and why', async () => {
  const { recorder, platform } = silent([status(401)]);
  for (const id of ['a', 'b', 'c']) recorder.record({ id, caller: 'web' });
  expect(await platform.until(recorder.close())).toBe(false);
  expect(platform.warnings).toEqual([
    expect.stringMatching(/3 queries are not counted \(closed\): .*; the last request failed: No\./),
  ]);
});

test('callbacks get everything, and the console nothing', async () => {
  const { recorder, platform, dropped, errors } = recorderWith([status(401), broken], { retryMaxMs: 1000 });
  recorder.record({ id: 'a', caller: 'Slack' });
  recorder.record({ id: 'b', caller: 'web' });
  await platform.until(recorder.close());
  expect(platform.warnings).toEqual([]);
  expect(errors.slice(0, 2)).toMatchObject([{ status: 401 }, { status: 0 }]);
  expect(dropped.map(({ reason: { code, message } }) => `${code} ${message}`)).toEqual([
    expect.stringContaining('invalid caller: "Slack"'),
    expect.stringMatching(/^closed .*; the last request failed: No response/),
  ]);
});

test('that the key expires is printed once for each time, although requests succeed', async () => {
  const at = '2027-01-01T00:00:00.000Z';
  const expiring = (time: string) => async (init: RequestInit) => {
    const answered = await ok(init);
    answered.headers.set('caller-stats-key-expires', time);
    return answered;
  };
  const { recorder, platform } = silent([expiring(at), expiring(at), expiring('2027-02-01'), ok]);
  for (const id of ['a', 'b', 'c', 'd']) {
    recorder.record({ id, caller: 'web' });
    await platform.until(recorder.flush());
  }
  expect(platform.warnings).toEqual(
    [at, '2027-02-01'].map((time) => `caller-stats: the key for project docs expires at ${time}.`),
  );
});
