/** What a recorder refuses, drops and retries. */
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Query, QueuedQuery } from '../../clients/javascript/src/query.js';
import { toQueuedQuery } from '../../clients/javascript/src/query.js';
import { createRecorder } from '../../clients/javascript/src/recorder.js';
import { parseQuery } from '../../src/domain/queries/query.js';
import { answer, never, TestPlatform } from '../support/client/client-platform.js';
import { ok, recorderWith, required, status } from '../support/client/client-recorder.js';

describe('invalid options are refused when the recorder is created', () => {
  test.each([
    ['url', { url: 'stats.test' }],
    ['url', { url: 'file:///stats' }],
    ['url', { url: 'http://stats.test/?a' }],
    ['key', { key: 'two keys' }],
    ['key', { key: 'a\nb' }],
    ['key', { key: 'kéy' }],
    ['batchMax', { batchMax: 0 }],
    ['batchMax', { batchMax: 10_001 }],
    ['queueMax', { queueMax: 0 }],
    ['delayMs', { delayMs: -1 }],
    ['timeoutMs', { timeoutMs: Number.NaN }],
    ['retryMaxMs', { retryMaxMs: 2 ** 31 }],
    ['closeTimeoutMs', { closeTimeoutMs: Number.POSITIVE_INFINITY }],
  ])('%s of %j', (name, options) => {
    expect(() => createRecorder({ ...required, ...options })).toThrow(RangeError);
    expect(() => createRecorder({ ...required, ...options })).toThrow(name);
  });
});

describe('without url, projectId or key, nothing throws', () => {
  test.each([
    ['url', { url: undefined }],
    ['url', { url: '' }],
    ['projectId', { projectId: undefined }],
    ['key', { key: '' }],
    ['url, projectId, key', { url: undefined, projectId: '', key: undefined }],
  ])('%s: each query is dropped, and one warning says why', async (names, options) => {
    const { recorder, platform, dropped, sent } = recorderWith([ok], options);
    expect(platform.warnings).toEqual([]);
    for (const id of ['a', 'b', 'c']) recorder.record({ id, caller: 'web' });
    const message = `createRecorder was given no ${names}`;
    expect(platform.warnings).toEqual([`caller-stats: no query is counted: ${message}`]);
    expect(dropped).toEqual(
      ['a', 'b', 'c'].map((id) => ({ ids: [id], reason: { code: 'unconfigured', message } })),
    );
    expect(recorder.stats).toMatchObject({ queued: 0, dropped: 3 });
    expect([await recorder.flush(), await recorder.close()]).toEqual([true, true]);
    expect(sent).toEqual([]);
  });

  test('a spool keeps what an earlier process left', async () => {
    const calls: string[] = [];
    const spool = {
      load: () => [],
      append: () => void calls.push('append'),
      settle: () => void calls.push('settle'),
      close: () => void calls.push('close'),
    };
    const { recorder } = recorderWith([ok], { key: undefined, spool });
    recorder.record({ id: 'a', caller: 'web' });
    await recorder.close();
    expect(calls).toEqual(['close']);
  });
});

test('the message about an invalid key does not contain the key', () => {
  expect(() => createRecorder({ ...required, key: 'secret\nkey' })).toThrow(/^key: (?!.*secret)/);
});

test('a key with a trailing newline is sent without it', async () => {
  const { recorder, sent } = recorderWith([ok], { key: 'key\n' });
  recorder.record({ id: 'a', caller: 'web' });
  await recorder.close();
  expect(sent[0]?.init.headers).toMatchObject({ authorization: 'Bearer key' });
});

describe('invalid queries are dropped and reported', () => {
  test.each([
    [undefined],
    [null],
    ['web'],
    [{}],
    [{ id: '', caller: 'web' }],
    [{ id: 'a'.repeat(129), caller: 'web' }],
    [{ id: 'a\0', caller: 'web' }],
    [{ id: '\ud800', caller: 'web' }],
    [{ id: 7, caller: 'web' }],
    [{ id: 'a', caller: 'Web' }],
    [{ id: 'a', caller: 'web', occurredAt: new Date(Number.NaN) }],
    [{ id: 'a', caller: 'web', occurredAt: 12 }],
    [{ id: 'a', caller: 'web', occurredAt: ' '.repeat(65) }],
  ])('%j', (query) => {
    const { recorder, dropped } = recorderWith([ok]);
    recorder.record(query as unknown as Query);
    expect(dropped.map(({ reason }) => reason.code)).toEqual(['invalid']);
    expect(recorder.stats).toMatchObject({ queued: 0, dropped: 1 });
  });

  test('a getter that throws', () => {
    const { recorder, dropped } = recorderWith([ok], {
      onDrop: (_, reason) => dropped.push({ ids: [], reason }),
    });
    recorder.record({
      caller: 'web',
      get id(): string {
        throw new Error('a getter');
      },
    });
    expect(dropped).toMatchObject([{ reason: { code: 'invalid' } }]);
  });

  test('with the rules of the service', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 140 }), fc.string({ maxLength: 140 }));
    fc.assert(
      fc.property(text, fc.oneof(text, fc.stringMatching(/^[a-z0-9._-]{0,70}$/)), (id, caller) => {
        const taken = typeof toQueuedQuery({ id, caller }, 0) !== 'string';
        expect(taken).toBe(parseQuery({ id, caller }, 0).ok);
      }),
      {
        examples: [
          ['😀'.repeat(128), 'web'],
          ['😀'.repeat(129), 'web'],
          ['\udc00', 'web'],
        ],
      },
    );
  });
});

test('queries beyond queueMax and after close are dropped', async () => {
  const { recorder, platform, dropped, sent } = recorderWith([ok], { queueMax: 2 });
  for (const id of ['a', 'b', 'c']) recorder.record({ id, caller: 'web' });
  expect(dropped).toMatchObject([{ ids: ['c'], reason: { code: 'queue-full' } }]);
  expect(await platform.until(recorder.close())).toBe(true);
  recorder.record({ id: 'd', caller: 'web' });
  expect(dropped.at(-1)).toMatchObject({ ids: ['d'], reason: { code: 'closed' } });
  expect(sent.map(({ ids }) => ids)).toEqual([['a', 'b']]);
});

test('if the server never responds, close reports everything that was queued', async () => {
  const { recorder, platform, dropped } = recorderWith([({ signal }) => never(signal)], { queueMax: 5 });
  for (let at = 0; at < 8; at++) recorder.record({ id: `${at}`, caller: 'web' });
  expect(recorder.stats.queued).toBe(5);
  expect(await platform.until(recorder.close({ timeoutMs: 25_000 }))).toBe(false);
  expect(dropped.flatMap(({ ids }) => ids)).toHaveLength(8);
  expect(dropped.at(-1)).toMatchObject({ reason: { code: 'closed' } });
  expect(recorder.stats).toEqual({ queued: 0, recorded: 0, duplicates: 0, dropped: 8, failures: 2 });
});

test('queries rejected by the server are dropped with its message, and the rest is sent again', async () => {
  const details = [{ message: 'queries[0]: caller: no' }, { message: 'queries[2]: id: no' }];
  const { recorder, platform, dropped, sent } = recorderWith([
    () => answer(400, { error: 'No.', details }),
    ok,
  ]);
  for (const id of ['a', 'b', 'c', 'd']) recorder.record({ id, caller: 'web' });
  expect(await platform.until(recorder.flush())).toBe(true);
  expect(sent.map(({ ids }) => ids)).toEqual([
    ['a', 'b', 'c', 'd'],
    ['b', 'd'],
  ]);
  expect(dropped).toEqual([
    { ids: ['a'], reason: { code: 'refused', message: 'queries[0]: caller: no' } },
    { ids: ['c'], reason: { code: 'refused', message: 'queries[2]: id: no' } },
  ]);
});

test('a batch that is too large is halved, and so are later ones', async () => {
  const { recorder, platform, sent } = recorderWith([status(413), ok], { batchMax: 4 });
  for (let at = 0; at < 8; at++) recorder.record({ id: `${at}`, caller: 'web' });
  expect(await platform.until(recorder.flush())).toBe(true);
  expect(sent.map(({ ids }) => ids.join())).toEqual(['0,1,2,3', '0,1', '2,3', '4,5', '6,7']);
});

test('a batch is halved while the server closes the connection, and grows again afterwards', async () => {
  const closes = (): Response => {
    throw new TypeError('fetch failed', { cause: new Error('write EPIPE') });
  };
  const { recorder, platform, sent } = recorderWith([closes, closes, ok], { batchMax: 8 });
  for (let at = 0; at < 16; at++) recorder.record({ id: `${at}`, caller: 'web' });
  expect(await platform.until(recorder.flush({ timeoutMs: 1_000_000 }))).toBe(true);
  expect(sent.map(({ ids }) => ids.length)).toEqual([8, 4, 2, 4, 8, 2]);
});

test('a batch keeps its size when a busy server asks to wait', async () => {
  const { recorder, platform, sent } = recorderWith([status(429, { 'retry-after': '1' }), ok]);
  for (const id of ['a', 'b']) recorder.record({ id, caller: 'web' });
  expect(await platform.until(recorder.flush())).toBe(true);
  expect(sent.map(({ ids }) => ids.join())).toEqual(['a,b', 'a,b']);
});

describe('after a failed request', () => {
  const base = { delayMs: 0, retryBaseMs: 100, retryMaxMs: 1000, timeoutMs: 77_777 };
  /** The waits after the first failures. */
  const waitsAfter = async (chance: number, ...answers: readonly (() => Response)[]): Promise<number[]> => {
    const { recorder, platform } = recorderWith([...answers, ok], { ...base, closeTimeoutMs: 10_000_000 });
    platform.chance = chance;
    recorder.record({ id: 'a', caller: 'web' });
    await platform.until(recorder.flush());
    return platform.waits.filter((ms) => ms !== base.timeoutMs && ms !== 10_000_000 && ms !== 0);
  };
  const broken = (): Response => {
    throw new TypeError('fetch failed');
  };

  test.each([
    ['no answer', broken],
    ['408', status(408)],
    ['429', status(429)],
    ['500', status(500)],
    ['503', status(503)],
  ])('%s: waits grow up to a limit, with full jitter', async (_, fail) => {
    expect(await waitsAfter(0.5, fail, fail, fail, fail, fail, fail)).toEqual([50, 100, 200, 400, 500, 500]);
  });

  test.each([401, 403, 404, 405, 415])('%d: the query stays queued and is retried slowly', async (code) => {
    expect(await waitsAfter(0, status(code), status(code))).toEqual([500, 500]);
    expect(await waitsAfter(0.5, status(code))).toEqual([750]);
  });

  test('Retry-After is obeyed, in seconds or as a date', async () => {
    expect(await waitsAfter(0, status(503, { 'retry-after': '7' }))).toEqual([7000]);
    expect(await waitsAfter(0.5, status(429, { 'retry-after': '7' }))).toEqual([7050]);
    const date = new Date(Date.UTC(2026, 0, 1, 0, 0, 9)).toUTCString();
    expect(await waitsAfter(0, status(503, { 'retry-after': date }))).toEqual([9000]);
    expect(await waitsAfter(0, status(503, { 'retry-after': '86400' }))).toEqual([3_600_000]);
    expect(await waitsAfter(0.5, status(503, { 'retry-after': 'soon' }))).toEqual([50]);
  });

  test('the host gets the message of the server', async () => {
    const { recorder, platform, errors } = recorderWith([status(401), ok]);
    recorder.record({ id: 'a', caller: 'web' });
    await platform.until(recorder.close());
    expect(errors).toMatchObject([{ name: 'AuthenticationError', status: 401, message: 'No.' }]);
  });
});

test('batches are sent when they are full or old enough, and flush sends at once', async () => {
  const { recorder, platform, sent } = recorderWith([ok], { batchMax: 3, delayMs: 1000 });
  recorder.record({ id: 'a', caller: 'web' });
  recorder.record({ id: 'b', caller: 'web' });
  await platform.settle();
  expect(sent).toEqual([]);
  recorder.record({ id: 'c', caller: 'web' });
  await platform.settle();
  expect(sent.map(({ ids }) => ids.join())).toEqual(['a,b,c']);
  recorder.record({ id: 'd', caller: 'web' });
  await platform.step();
  recorder.record({ id: 'e', caller: 'web' });
  const flushed = recorder.flush();
  await platform.settle();
  expect(sent.map(({ ids }) => ids.join())).toEqual(['a,b,c', 'd', 'e']);
  expect(await flushed).toBe(true);
});

test('flush gives up on timeout or abort, and sending continues', async () => {
  const { recorder, platform, sent } = recorderWith([status(503), status(503), ok], { retryBaseMs: 60_000 });
  recorder.record({ id: 'a', caller: 'web' });
  expect(await platform.until(recorder.flush({ timeoutMs: 100 }))).toBe(false);
  const abort = new AbortController();
  const flushed = recorder.flush({ signal: abort.signal, timeoutMs: 1_000_000 });
  abort.abort();
  expect(await flushed).toBe(false);
  expect(await recorder.flush({ signal: AbortSignal.abort() })).toBe(false);
  expect(recorder.stats.queued).toBe(1);
  expect(await platform.until(recorder.flush({ timeoutMs: 1_000_000 }))).toBe(true);
  expect(sent).toHaveLength(3);
});

test('large bodies are compressed', async () => {
  const bodies: [headers: unknown, text: string][] = [];
  const platform = new TestPlatform(async (_, { headers, body }) => {
    bodies.push([headers, gunzipSync(body as ArrayBuffer).toString()]);
    return answer(200, { recorded: 100, duplicates: 0 });
  });
  const recorder = createRecorder({ ...required, platform });
  const ids = Array.from({ length: 100 }, (_, at) => `query-${at}`);
  for (const id of ids) recorder.record({ id, caller: 'web', occurredAt: '2026-01-01T00:00:00Z' });
  // Compression takes real time, which the fake clock does not control.
  expect(await recorder.flush()).toBe(true);
  expect(bodies).toHaveLength(1);
  expect(bodies[0]?.[0]).toMatchObject({ 'content-encoding': 'gzip' });
  expect((JSON.parse(bodies[0]?.[1] ?? '') as QueuedQuery[]).map(({ id }) => id)).toEqual(ids);
});

test('await using closes the recorder', async () => {
  const { recorder, platform, sent } = recorderWith([ok]);
  recorder.record({ id: 'a', caller: 'web' });
  await platform.until(Promise.resolve(recorder[Symbol.asyncDispose]()));
  expect(sent).toMatchObject([{ ids: ['a'], url: 'http://stats.test/v1/analytics/docs/assistant/queries' }]);
  expect(sent[0]?.init.headers).toMatchObject({ authorization: 'Bearer key' });
});
