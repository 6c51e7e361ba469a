/** What `flush` and `close` wait for. */
import { describe, expect, test } from 'vitest';
import { createRecorder } from '../../clients/javascript/src/recorder.js';
import { answer, TestPlatform } from '../support/client/client-platform.js';
import { ok, recorderWith, required, status } from '../support/client/client-recorder.js';

const one = (id: string, caller = 'web') => ({ id, caller });

test('flush does not wait for queries that are recorded later', async () => {
  const { recorder, platform, sent } = recorderWith([ok, status(503), ok], { batchMax: 1 });
  let flushed: boolean | undefined;
  recorder.record(one('a'));
  const waiting = recorder.flush().then((settled) => {
    flushed = settled;
  });
  recorder.record(one('b'));
  await platform.settle();
  // The request with `b` failed and is waiting for its retry.
  expect(sent.map(({ ids }) => ids.join())).toEqual(['a', 'b']);
  expect([flushed, recorder.stats.queued]).toEqual([true, 1]);
  await waiting;
  expect(await platform.until(recorder.close())).toBe(true);
});

describe('if requests end with the one that started them, as in workers,', () => {
  const answers = (ids: string[][], pending: ((response: Response) => void)[]) =>
    new TestPlatform((_, { body }) => {
      ids.push((JSON.parse(String(body)) as { id: string }[]).map(({ id }) => id));
      return new Promise((resolve) => pending.push(resolve));
    }, true);
  const recorded = (count: number) => answer(200, { recorded: count, duplicates: 0 });

  test('each flush sends what no other is sending, at the same time', async () => {
    const [ids, pending]: [string[][], ((response: Response) => void)[]] = [[], []];
    const platform = answers(ids, pending);
    const recorder = createRecorder({ ...required, platform });
    recorder.record(one('a'));
    await platform.settle();
    expect(ids).toEqual([]);
    const first = recorder.flush();
    recorder.record(one('b'));
    const second = recorder.flush();
    await platform.settle();
    expect(ids).toEqual([['a'], ['b']]);
    expect(recorder.stats.queued).toBe(2);
    for (const resolve of pending) resolve(recorded(1));
    expect(await Promise.all([first, second])).toEqual([true, true]);
    expect(recorder.stats).toMatchObject({ queued: 0, recorded: 2 });
  });

  test('queries of a flush that timed out, or whose request ended, are sent by a later flush', async () => {
    const [ids, pending]: [string[][], ((response: Response) => void)[]] = [[], []];
    const platform = answers(ids, pending);
    const recorder = createRecorder({ ...required, platform });
    recorder.record(one('a'));
    expect(await platform.until(recorder.flush({ timeoutMs: 100 }))).toBe(false);
    expect(recorder.stats.queued).toBe(1);
    // The timers of this flush never fire.
    void recorder.flush({ timeoutMs: 100 });
    await platform.settle();
    platform.nowMs += 10_000;
    recorder.record(one('b'));
    const last = recorder.flush();
    await platform.settle();
    expect(ids).toEqual([['a'], ['a'], ['a', 'b']]);
    pending.at(-1)?.(recorded(2));
    expect(await last).toBe(true);
    expect(recorder.stats).toMatchObject({ queued: 0, recorded: 2 });
  });

  test('closing drops what could not be sent', async () => {
    const dropped: string[] = [];
    const platform = answers([], []);
    const onDrop = (_: unknown, { code }: { code: string }) => void dropped.push(code);
    const recorder = createRecorder({ ...required, platform, onDrop });
    recorder.record(one('a'));
    expect(await platform.until(recorder.close())).toBe(false);
    expect([dropped, recorder.stats.queued]).toEqual([['closed'], 0]);
  });
});

test('flush does not mistake rejected queries of a batch for the ones it waits for', async () => {
  const details = [{ message: 'queries[1]: no' }, { message: 'queries[2]: no' }];
  const { recorder, platform, dropped, sent } = recorderWith(
    [status(503), ok, () => answer(400, { error: 'No.', details }), status(503), ok],
    { delayMs: 0, batchMax: 3, closeTimeoutMs: 1_000_000 },
  );
  recorder.record(one('first'));
  await platform.step();
  recorder.record(one('a'));
  let flushed = false;
  const first = recorder.flush().then(() => {
    flushed = true;
  });
  recorder.record(one('b'));
  recorder.record(one('c'));
  // Continue until the wait after the request that contains only `a`.
  for (let steps = 0; steps < 10 && sent.length < 4; steps++) await platform.step();
  expect(sent.map(({ ids }) => ids.join())).toEqual(['first', 'first', 'a,b,c', 'a']);
  expect(dropped.map(({ ids }) => ids.join())).toEqual(['b', 'c']);
  const second = recorder.flush();
  await platform.settle();
  expect(flushed).toBe(false);
  await platform.until(Promise.all([first, second]));
  expect(recorder.stats).toMatchObject({ recorded: 2, dropped: 2, queued: 0 });
});

test('flush waits for a query of a split batch even if a later query was rejected', async () => {
  const rejectLast = () => answer(400, { error: 'No.', details: [{ message: 'queries[2]: no' }] });
  const { recorder, platform, sent } = recorderWith([rejectLast, status(400), ok, status(503), ok], {
    batchMax: 3,
    closeTimeoutMs: 1_000_000,
  });
  recorder.record(one('a'));
  recorder.record(one('b'));
  let flushed = false;
  const flush = recorder.flush().then(() => {
    flushed = true;
  });
  recorder.record(one('rejected'));
  await platform.settle();
  expect(sent.map(({ ids }) => ids.join())).toEqual(['a,b,rejected', 'a,b', 'a', 'b']);
  expect(flushed).toBe(false);
  await platform.until(flush);
  expect(recorder.stats).toMatchObject({ recorded: 2, dropped: 1, queued: 0 });
});

test('a batch that is abandoned during compression is not sent', async () => {
  let sent: (signal: AbortSignal | null | undefined) => void = () => {};
  const made = new Promise<AbortSignal | null | undefined>((resolve) => {
    sent = resolve;
  });
  const platform = new TestPlatform(async (_, { signal }) => {
    sent(signal);
    throw signal?.reason ?? new Error('it is sent');
  });
  const dropped: string[] = [];
  const recorder = createRecorder({
    ...required,
    platform,
    batchMax: 100,
    onDrop: (queries, { code }) => dropped.push(`${code} ${queries.length}`),
  });
  for (let at = 0; at < 100; at++) recorder.record(one(`query-${at}`));
  // The first query started the batch timer, and the last one filled the batch.
  await Promise.resolve()
    .then(() => {})
    .then(() => {});
  expect(await recorder.close({ signal: AbortSignal.abort() })).toBe(false);
  expect(dropped).toEqual(['closed 100']);
  expect((await made)?.aborted).toBe(true);
  expect(recorder.stats).toMatchObject({ queued: 0, dropped: 100 });
});
