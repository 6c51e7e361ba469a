/** Properties of the recorder with random server failures and random orders of events. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { QueuedQuery } from '../../clients/javascript/src/query.js';
import { createRecorder } from '../../clients/javascript/src/recorder.js';
import type { DropReason } from '../../clients/javascript/src/recorder-options.js';
import { TestPlatform } from '../support/client/client-platform.js';
import { required } from '../support/client/client-recorder.js';
import { BAD, ModelServer, type Trouble } from '../support/client/client-server.js';
import { lawRuns } from '../support/volume.js';

const runs = { numRuns: lawRuns };

const troubles = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Trouble>('none') },
    {
      weight: 4,
      arbitrary: fc.constantFrom<Trouble[]>('lost', 'late', 'reset', 'never', 'vague', 'garbage', 'foreign'),
    },
    { weight: 3, arbitrary: fc.constantFrom<Trouble[]>(401, 403, 404, 405, 408, 413, 429, 500, 502, 503) },
  ),
  { maxLength: 12 },
);

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('record'), count: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('again'), count: fc.constant(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('bad'), count: fc.constant(1) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('invalid'), count: fc.constant(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('step'), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('flush'), count: fc.constant(1) }) },
);

interface Case {
  readonly actions: readonly { readonly do: string; readonly count: number }[];
  readonly troubles: readonly Trouble[];
  readonly batchMax: number;
  readonly serverBatchMax: number;
  readonly serverCloses: boolean;
  readonly queueMax: number;
  readonly closeTimeoutMs: number;
  readonly chance: number;
}

const cases: fc.Arbitrary<Case> = fc.record({
  actions: fc.array(action, { maxLength: 25 }),
  troubles,
  batchMax: fc.integer({ min: 1, max: 8 }),
  serverBatchMax: fc.integer({ min: 1, max: 8 }),
  serverCloses: fc.boolean(),
  queueMax: fc.integer({ min: 1, max: 30 }),
  closeTimeoutMs: fc.constantFrom(0, 1000, 30_000, 1_000_000),
  chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
});

/** Runs all steps, closes the recorder, and returns the outcome of each query. */
async function play({ actions, troubles, chance, serverBatchMax, serverCloses, ...options }: Case) {
  const server = new ModelServer(troubles, serverBatchMax, serverCloses);
  const platform = new TestPlatform(server.fetch);
  platform.chance = chance;
  const dropped: { readonly query: QueuedQuery; readonly code: DropReason['code'] }[] = [];
  const calls: { readonly id: string; readonly at: string }[] = [];
  const broken: string[] = [];
  const recorder = createRecorder({
    ...options,
    ...required,
    platform,
    onDrop: (queries, { code }) => {
      for (const query of queries) dropped.push({ query, code });
      throw new Error('a callback that fails');
    },
    onError: () => {
      throw new Error('another');
    },
  });
  const record = (id: string, caller: string): void => {
    calls.push({ id, at: new Date(platform.nowMs).toISOString() });
    recorder.record({ id, caller });
    if (recorder.stats.queued > options.queueMax) broken.push('more is queued than may be');
  };
  const isSettled = (id: string): boolean =>
    server.times.has(id) || dropped.some(({ query }) => query.id === id);
  const flushes: Promise<unknown>[] = [];
  const flush = (): void => {
    const before = calls.map(({ id }) => id);
    flushes.push(
      recorder.flush().then((flushed) => {
        if (flushed && !before.every(isSettled)) broken.push('flushed, and not all is settled');
      }),
    );
  };
  const lastGood = () => calls.findLast(({ id }) => id.startsWith('query'))?.id ?? 'query';
  const does: Readonly<Record<string, () => unknown>> = {
    record: () => record(`query-${calls.length}`, 'web'),
    again: () => record(lastGood(), 'web'),
    bad: () => record(`bad-${calls.length}`, BAD),
    invalid: () => record(`invalid-${calls.length}`, 'No Name'),
    flush,
    step: () => platform.step(),
  };
  for (const { do: what, count } of actions) {
    for (let times = 0; times < count; times++) await does[what]?.();
  }
  const closed = await platform.until(recorder.close());
  await platform.until(Promise.all(flushes));
  return { server, dropped, calls, broken, closed, stats: recorder.stats };
}

test('each query is acknowledged or dropped exactly once, with the time of its call', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (one) => {
      const { server, dropped, calls, broken, closed, stats } = await play(one);
      expect(broken).toEqual([]);
      expect(server.atOnceMax).toBeLessThanOrEqual(1);
      expect(stats.queued).toBe(0);
      expect(stats.dropped).toBe(dropped.length);
      expect(stats.recorded + stats.duplicates + stats.dropped).toBe(calls.length);
      expect(closed).toBe(!dropped.some(({ code }) => code === 'closed'));

      for (const [id, time] of server.times)
        expect(calls.filter((call) => call.id === id).map(({ at }) => at)).toContain(time);

      const times = (list: readonly string[], id: string) => list.filter((one) => one === id).length;
      const called = calls.map(({ id }) => id);
      const given = dropped.map(({ query }) => query.id);
      for (const id of new Set(called)) {
        // The remaining queries were acknowledged, so the server must have them.
        const acknowledged = times(called, id) - times(given, id);
        expect(acknowledged).toBeGreaterThanOrEqual(0);
        if (acknowledged > 0) expect(server.times.has(id)).toBe(true);
      }
      for (const { query, code } of dropped) {
        if (query.caller === BAD) expect(server.times.has(query.id)).toBe(false);
        if (code === 'invalid') expect(query.caller).toBe('No Name');
      }
    }),
    runs,
  );
});

test('every query is recorded, however small the batches are that the server takes, and however it refuses others', async () => {
  // Larger bodies are compressed, which takes real time.
  const sizes = fc.integer({ min: 1, max: 12 });
  await fc.assert(
    fc.asyncProperty(sizes, sizes, fc.integer({ min: 1, max: 200 }), fc.boolean(), async (...one) => {
      const [batchMax, serverBatchMax, queries, serverCloses] = one;
      const server = new ModelServer([], serverBatchMax, serverCloses);
      const platform = new TestPlatform(server.fetch);
      const recorder = createRecorder({ ...required, batchMax, platform });
      for (let at = 0; at < queries; at++) recorder.record({ id: `${at}`, caller: 'web' });
      expect(await platform.until(recorder.flush({ timeoutMs: 2 ** 31 - 1 }))).toBe(true);
      expect(recorder.stats).toMatchObject({ recorded: queries, queued: 0, dropped: 0 });
      // Each request that is refused makes the next one smaller, and each success at most doubles it.
      expect(server.requests).toBeLessThanOrEqual(2 * queries + Math.ceil(Math.log2(batchMax)) + 1);
    }),
    runs,
  );
});
