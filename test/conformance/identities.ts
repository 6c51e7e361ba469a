/** The ids of queries: the same for every handle, whatever arrives first and at the same time. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Carried, recordCarriedQueries } from '../../src/app/carried.js';
import { CALLERS, CHANGES } from '../../src/app/reading/reports.js';
import { recordTelemetry } from '../../src/app/record-telemetry.js';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { FoundFacts } from '../../src/domain/queries/found-queries.js';
import type { QueryKeys } from '../../src/domain/queries/query-identity.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { UTC } from '../../src/domain/time/time-zone.js';
import { expiredKeysMin, keysKeptMs } from '../../src/storage/ports/identities.js';
import type { Store } from '../../src/storage/ports/store.js';
import { spanId, traceId, uuidOf } from '../support/http/telemetry.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';

const nowMs = Date.parse('2026-06-15T12:00:00Z');
const trace = (number = 1): QueryKeys => ({ traceId: traceId(number), service: 'docs' });
const entry = (number: number, ofTrace = 1): QueryKeys => ({
  ...trace(ofTrace),
  entrySpanId: spanId(number),
});
const message = (id: string, more: Partial<QueryKeys> = {}): QueryKeys => ({
  ...trace(),
  explicitId: id,
  ...more,
});
const entryId = (number: number) => `${traceId(1)}-${spanId(number)}`;
const idOfTrace = uuidOf(traceId(1));

/** Identifies queries of which nothing but the keys matters, and returns their ids. */
async function identify(store: Store, projectId: string, queries: readonly QueryKeys[], atMs: number) {
  const found = queries.map((keys) => ({ keys, caller: 'web', isNamed: true, occurredAt: atMs }));
  return (await store.identities.identify(projectId, found, 'question', atMs)).queryIds;
}

/** What a span may tell of a query, in a few traces that share ids, spans and answers. */
const anyFact = fc
  .record({
    number: fc.integer({ min: 1, max: 3 }),
    entrySpan: fc.constantFrom(undefined, 1, 2, 3),
    inner: fc.subarray([1, 2, 3]),
    explicitId: fc.constantFrom(undefined, undefined, 'a', 'b'),
    responses: fc.subarray(['r1', 'r2']),
    kind: fc.constantFrom('named', 'hinted', 'plain', 'plain', 'request', 'ignored'),
    caller: fc.constantFrom('web', 'slack', 'bot'),
    isUnsure: fc.boolean(),
    agoMs: fc.nat({ max: 5 }),
  })
  .map(({ number, entrySpan, inner, explicitId, responses, kind, caller, isUnsure, agoMs }): FoundFacts => {
    const isRequest = kind === 'request';
    const isHinted = kind === 'hinted';
    const span = {
      ...(entrySpan === undefined ? { isUnsure } : { entrySpanId: spanId(entrySpan) }),
      innerSpanIds: inner.filter((one) => one !== entrySpan).map(spanId),
      ...{ responses, isIgnored: kind === 'ignored' },
    };
    return {
      keys: { ...trace(number), explicitId, ...(isRequest ? { isRequest } : span) },
      caller: isRequest || isHinted || kind === 'named' ? caller : 'unknown',
      ...{ isNamed: isRequest || kind === 'named', isHinted },
      occurredAt: isRequest ? 0 : nowMs - agoMs,
    };
  });

export function describeIdentities(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    for (const id of ['docs', 'blog']) await store.directory.createProject(projectOf(id), by);
    return [store, other] as const;
  };

  describe(`${kind}: queries`, () => {
    test('of a project that does not exist are refused', async () => {
      const [store] = await openTwo();
      await expect(identify(store, 'none', [trace()], nowMs)).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    test('have the same ids for every handle, and others in another project', async () => {
      const [one, other] = await openTwo();
      expect(await identify(one, 'docs', [trace()], nowMs)).toEqual([idOfTrace]);
      expect(await identify(other, 'docs', [entry(1), entry(2)], nowMs)).toEqual([idOfTrace, entryId(2)]);
      expect(await identify(one, 'docs', [trace(), entry(2), entry(1)], nowMs)).toEqual([
        idOfTrace,
        entryId(2),
        idOfTrace,
      ]);
      expect(await identify(one, 'blog', [entry(1)], nowMs)).toEqual([entryId(1)]);
      expect(await identify(one, 'docs', [], nowMs)).toEqual([]);
    });

    test('are not changed by those of another project in the same trace', async () => {
      const [one, other] = await openTwo();
      for (const id of ['docs', 'blog'])
        expect(await identify(one, id, [trace()], nowMs)).toEqual([idOfTrace]);
      expect(await identify(one, 'docs', [entry(1), entry(2)], nowMs)).toEqual([idOfTrace, entryId(2)]);
      expect(await identify(other, 'blog', [entry(2)], nowMs)).toEqual([idOfTrace]);
    });

    test('are the recorded queries of their traces', async () => {
      const [one, other] = await openTwo();
      await one.counts.record('docs', [{ id: idOfTrace, caller: 'web', occurredAt: nowMs }]);
      expect(await identify(other, 'docs', [entry(2), entry(1), trace()], nowMs)).toEqual([
        entryId(2),
        idOfTrace,
        idOfTrace,
      ]);
      expect(await identify(one, 'docs', [entry(1), entry(2)], nowMs)).toEqual([idOfTrace, entryId(2)]);
    });

    test('are as many as they are if their keys arrive at once through many handles', async () => {
      const { open } = await factory();
      const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
      await handles[0]?.directory.createProject(projectOf('docs'), by);
      const traces = Array.from({ length: 10 }, (_, at) => at);
      // Two server spans in each trace, spans that say nothing more, and one message that is in all traces.
      const batches = traces.flatMap((at) => [
        [trace(at), entry(1, at)],
        [entry(2, at), trace(at)],
        [trace(at)],
        [entry(1, at), message('a', trace(at))],
      ]);
      const ids = await Promise.all(
        batches.map((batch, at) => identify(handles[at % handles.length] as Store, 'docs', batch, nowMs)),
      );
      const again = () =>
        Promise.all(batches.map((batch) => identify(handles[0] as Store, 'docs', batch, nowMs)));
      const [settled] = [new Set((await again()).flat()), await again()];
      // Some turned out to be one.
      expect([...settled].filter((id) => !ids.flat().includes(id))).toEqual([]);
      expect(new Set((await again()).flat())).toEqual(settled);
      const ofEntries = traces.map((at) => [entry(1, at), entry(2, at)]);
      const found = await identify(handles[1] as Store, 'docs', ofEntries.flat(), nowMs);
      expect(new Set(found).size).toBe(2 * traces.length);
    });

    test('keep their ids for a while and not forever', async () => {
      const [one, other] = await openTwo();
      expect(await identify(one, 'docs', [trace()], nowMs)).toEqual([idOfTrace]);
      expect(await identify(one, 'docs', [entry(1)], nowMs)).toEqual([idOfTrace]);
      expect(await identify(other, 'docs', [entry(1)], nowMs + keysKeptMs - 1)).toEqual([idOfTrace]);
      expect(await identify(other, 'docs', [entry(1)], nowMs + keysKeptMs)).toEqual([entryId(1)]);
    });

    test('do not pile up, however many a call adds', async () => {
      const [one, other] = await openTwo();
      const many = Array.from({ length: 3 * expiredKeysMin }, (_, at) => at);
      await identify(one, 'docs', many.map(trace), nowMs);
      const entries = many.map((at) => entry(at, at));
      // A key of a trace that is still there would make each of them the query of its trace.
      expect(await identify(other, 'docs', entries, nowMs + keysKeptMs)).toEqual(
        many.map((at) => `${traceId(at)}-${spanId(at)}`),
      );
    });

    test('of many kinds are identified at once', async () => {
      const [one, other] = await openTwo();
      const many = Array.from({ length: expiredKeysMin + 50 }, (_, at) => entry(at, at));
      const ids = await identify(one, 'docs', many, nowMs);
      expect(new Set(ids).size).toBe(many.length);
      expect(await identify(other, 'docs', many.toReversed(), nowMs)).toEqual(ids.toReversed());
    });

    /** Identifies and records queries as telemetry does, through one handle. */
    const receive = (
      store: Store,
      found: readonly Partial<FoundFacts>[],
      atMs = nowMs,
      projectId = 'docs',
      expiryMs = atMs,
    ) =>
      recordTelemetry({ store, clock: { now: () => atMs } }, 'key', projectId, {
        queries: found.map((one) => ({ ...unnamed, noteRecorded: () => {}, ...one })),
        id: 'question',
        ...{ nowMs: atMs, expiryMs },
      });
    const unnamed = { keys: trace(), caller: 'unknown', isNamed: false, occurredAt: nowMs };
    const named = (caller: string, keys = trace()) => ({ keys, caller, isNamed: true });
    const countsOf = async (store: Store, projectId = 'docs'): Promise<Record<string, number>> => {
      const { callers } = await store.counts.countCallers(projectId, ALL_TIME);
      return Object.fromEntries(callers.map(({ caller, count }) => [caller, count]));
    };

    test('are counted once each however many a request has, and told to the store in parts', async () => {
      const [store] = await openTwo();
      const sizes: number[] = [];
      const identify = (...args: Parameters<Store['identities']['identify']>) => {
        sizes.push(args[1].length);
        return store.identities.identify(...args);
      };
      const watched = { ...store, counts: store.counts, identities: { ...store.identities, identify } };
      const many = (length: number, one: (at: number) => Partial<FoundFacts>) =>
        Array.from({ length }, (_, at) => one(at));
      await receive(watched as Store, [
        ...many(1500, (at) => ({ keys: trace(0x10000 + at) })),
        // Of one trace, from so many services.
        ...many(3000, (at) => ({ keys: { ...trace(), service: `docs-${at}` } })),
        named('web', trace(0x10000)),
        named('web', trace(1)),
      ]);
      expect(await countsOf(store)).toEqual({ unknown: 1499, web: 2 });
      expect(Math.max(...sizes)).toBeLessThanOrEqual(2000);
      expect(sizes.reduce((all, size) => all + size, 0)).toBe(4502);
    });

    test('are one each, however many of them a later part of the request says to be the same', async () => {
      const [store] = await openTwo();
      const inner = (at: number) => entry(at, 1);
      const outer = (at: number) => ({
        ...entry(10_000 + at, 1),
        innerSpanIds: [0, 1, 2].map((one) => spanId(3 * at + one)),
      });
      const many = (length: number, one: (at: number) => QueryKeys) =>
        Array.from({ length }, (_, at) => ({ keys: one(at) }));
      await receive(store, [...many(2001, inner), ...many(667, outer)]);
      expect(await countsOf(store)).toEqual({ unknown: 667 });
    });

    test('that one request brings in parts count as in one request after another, of any node', async () => {
      const [one, other] = await openTwo();
      // So many of two other traces that each fact is in a part of its own.
      const filler = Array.from({ length: 1002 }, (_, at) => named('filler', trace(900 + (at % 2))));
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyFact, { minLength: 2, maxLength: 5 }), async (facts) => {
          const projects = ['parts', 'apart', 'nodes'].map((name) => `${name}-${runs}`);
          runs++;
          for (const id of projects) await one.directory.createProject(projectOf(id), by);
          const [parts = '', apart = '', nodes = ''] = projects;
          await receive(
            one,
            facts.flatMap((fact) => [fact, ...filler]),
            nowMs,
            parts,
          );
          for (const [at, fact] of facts.entries()) {
            await receive(one, [fact], nowMs, apart);
            await receive(at % 2 === 0 ? one : other, [fact], nowMs, nodes);
          }
          const { filler: _, ...counts } = await countsOf(one, parts);
          expect(counts).toEqual(await countsOf(one, apart));
          expect(await countsOf(other, nodes)).toEqual(counts);
        }),
        { numRuns: 10 },
      );
      expect(await one.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('get the first caller that is named within a day, in all counts', async () => {
      const [one, other] = await openTwo();
      await receive(one, [{}]);
      expect(await countsOf(other)).toEqual({ unknown: 1 });
      await receive(other, [named('web')], nowMs + dayMs - 1);
      expect(await countsOf(one)).toEqual({ web: 1 });
      await receive(one, [named('slack')]);
      await receive(one, [{}]);
      expect(await countsOf(other)).toEqual({ web: 1 });
      await receive(one, [{ keys: trace(2) }]);
      await receive(one, [named('web', trace(2))], nowMs + dayMs);
      // A named one that is the same as the assumed one.
      await receive(one, [{ keys: trace(3) }]);
      await receive(other, [named('unknown', trace(3))]);
      await receive(other, [named('web', trace(3))]);
      expect(await countsOf(one)).toEqual({ web: 1, unknown: 2 });
      expect(await other.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('get a hinted caller until one is named, of several the last in the alphabet', async () => {
      const [one, other] = await openTwo();
      const hinted = (caller: string, number: number) => ({ keys: trace(number), caller, isHinted: true });
      const sends = [{}, hinted('api', 1), hinted('sdk-go', 1), hinted('api', 1)];
      for (const [at, sent] of sends.entries()) {
        await receive(at % 2 === 0 ? one : other, [sent]);
        expect(await countsOf(one)).toEqual({ [['unknown', 'api', 'sdk-go', 'sdk-go'][at] ?? '']: 1 });
      }
      await receive(other, [named('web')]);
      await receive(one, [hinted('sdk-go', 1), hinted('sdk-go', 2), hinted('api', 2)]);
      expect(await countsOf(other)).toEqual({ web: 1, 'sdk-go': 1 });
      // The request that waits at one node, and what it asked at another.
      await receive(one, [{ ...request('api', trace(3)), isNamed: false, isHinted: true }]);
      await receive(other, [{ keys: trace(3) }]);
      expect(await countsOf(one)).toEqual({ web: 1, 'sdk-go': 1, api: 1 });
      await receive(one, [named('unknown', trace(3))]);
      expect(await countsOf(other)).toEqual({ web: 1, 'sdk-go': 1, unknown: 1 });
      expect(await other.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    /** As sent for the first span of a trace, while its process knows of no query. */
    const request = (caller: string, keys = trace()): Partial<FoundFacts> => ({
      keys: { ...keys, isRequest: true },
      ...{ caller, isNamed: true, occurredAt: 0 },
    });

    test('get the caller and the id of a request that came to another node up to a day before', async () => {
      const [one, other] = await openTwo();
      await receive(one, [request('web'), request('slack', trace(2)), request('slack', trace(3))]);
      await receive(one, [request('web', message('a', trace(4))), request('web', message('a', trace(5)))]);
      expect(await countsOf(other)).toEqual({});
      await receive(other, [{}], nowMs + dayMs - 1);
      await receive(other, [{ keys: entry(1, 2) }, { keys: trace(4) }]);
      // Of another service, and in another project.
      await receive(other, [{ keys: { ...trace(3), service: 'search' } }]);
      expect(await countsOf(one)).toEqual({ web: 2, slack: 1, unknown: 1 });
      await receive(one, [{ keys: trace(5) }]);
      expect(await countsOf(one)).toEqual({ web: 2, slack: 1, unknown: 1 });
      // A named one stays.
      await receive(one, [request('web', trace(6))]);
      await receive(other, [named('bot', trace(6))]);
      expect(await countsOf(one)).toMatchObject({ web: 2, bot: 1 });
      await receive(one, [request('web', trace(7))]);
      await receive(other, [{ keys: trace(7) }], nowMs + dayMs);
      expect(await countsOf(one)).toMatchObject({ web: 2, unknown: 2 });
      expect(await other.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('are not forgotten while a clock is known to be years ahead, nor what is told of them', async () => {
      const [one, other] = await openTwo();
      const aheadMs = nowMs + 3650 * dayMs;
      await receive(one, [{}, { keys: entry(2, 2) }, request('slack', trace(3))]);
      await receive(other, [named('bot', trace(4))], aheadMs, 'docs', nowMs);
      await receive(one, [{ keys: trace(3) }, { keys: trace(5) }], aheadMs, 'docs', nowMs);
      await receive(other, [named('web'), { keys: entry(2, 2) }, named('api', trace(5))], nowMs + 1);
      await receive(one, [named('web', trace(2))], nowMs + 1);
      expect(await countsOf(other)).toEqual({ web: 2, slack: 1, bot: 1, api: 1 });
    });

    test('that arrive with their requests at other nodes at once get their callers', async () => {
      const { open } = await factory();
      const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
      await handles[0]?.directory.createProject(projectOf('docs'), by);
      const numbers = Array.from({ length: 20 }, (_, at) => at);
      const sent = numbers.flatMap((at) => [[request('web', trace(at))], [{ keys: trace(at) }]]);
      await Promise.all(sent.map((some, at) => receive(handles[at % 4] as Store, some)));
      expect(await countsOf(handles[0] as Store)).toEqual({ web: numbers.length });
    });

    test('keep what a correction has changed', async () => {
      const [one, other] = await openTwo();
      await receive(one, [{}, { keys: trace(2) }]);
      type Change = { action: 'withdraw' } | { action: 'rename'; to: string };
      const finish = async () => {
        while ((await one.corrections.step('docs', nowMs, 10)) !== undefined);
      };
      const correct = (id: string, number: number, change: Change) =>
        other.corrections.accept(
          'docs',
          {
            id,
            reason: 'a test',
            selection: { ids: [uuidOf(traceId(number))] },
            ...change,
          },
          by,
        );
      await correct('c1', 1, { action: 'rename', to: 'bot' });
      await correct('c2', 2, { action: 'withdraw' });
      await finish();
      await receive(one, [named('web'), named('web', trace(2))]);
      await receive(one, [named('web', entry(1, 2)), named('web', message('a', entry(1, 2)))]);
      expect(await countsOf(other)).toEqual({ bot: 1 });
      // It turns out to be another one, which an undo does not change.
      await receive(one, [{ keys: message('b', trace(3)), occurredAt: nowMs - 1 }]);
      await receive(other, [{ keys: message('b', trace(1)) }]);
      expect(await countsOf(other)).toEqual({ web: 1 });
      const undo = async (correction: string, id: string) => {
        await other.corrections.accept('docs', { id, reason: 'a test', action: 'undo', correction }, by);
        await finish();
      };
      await undo('c1', 'c3');
      expect(await countsOf(one)).toEqual({ web: 1 });
      // What telemetry told meanwhile, an undo brings to light, however much later.
      await one.identities.identify('docs', [], 'question', nowMs + 2 * keysKeptMs);
      await undo('c2', 'c4');
      expect(await countsOf(one)).toEqual({ web: 2 });
    });

    test('that a correction had withdrawn when they turned out to be others do not count twice after its undo', async () => {
      const [one, other] = await openTwo();
      const step = async () => {
        while ((await one.corrections.step('docs', nowMs, 10)) !== undefined);
      };
      await receive(one, [
        { keys: message('a', trace(1)), occurredAt: nowMs - 1 },
        { keys: trace(2), occurredAt: nowMs },
      ]);
      const selection = { ids: [uuidOf(traceId(2))] };
      await other.corrections.accept(
        'docs',
        { id: 'c', reason: 'a test', action: 'withdraw', selection },
        by,
      );
      await step();
      expect(await countsOf(one)).toEqual({ unknown: 1 });
      await receive(other, [{ keys: message('a', trace(2)) }]);
      await one.identities.identify('docs', [], 'question', nowMs + 2 * keysKeptMs);
      const undo = { id: 'u', reason: 'a test', action: 'undo', correction: 'c' } as const;
      await other.corrections.accept('docs', undo, by);
      await step();
      expect(await countsOf(one)).toEqual({ unknown: 1 });
      expect(await one.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('become the earlier one when an id shows that they are one', async () => {
      const [one, other] = await openTwo();
      await receive(one, [{ keys: message('a', trace(1)), occurredAt: nowMs - 1 }]);
      await receive(other, [{ keys: trace(2), occurredAt: nowMs - 2 }, { keys: trace(3) }]);
      expect(await countsOf(one)).toEqual({ unknown: 3 });
      await receive(one, [{ ...named('web', message('a', trace(2))), occurredAt: nowMs }]);
      expect(await countsOf(one)).toEqual({ web: 1, unknown: 1 });
      const before = { from: ALL_TIME.from, to: nowMs - 1 };
      expect(await other.counts.count('docs', before)).toMatchObject({ web: 1, total: 1 });
      // Both ids are known for ever, and whatever is found later belongs to the one that is left.
      await receive(other, [{ keys: message('a', trace(3)) }, { keys: trace(1) }, { keys: trace(2) }]);
      expect(await countsOf(one)).toEqual({ web: 1 });
      const again = [traceId(2), traceId(3)].map((id) => ({ ...unnamed, id: uuidOf(id) }));
      expect(await one.counts.record('docs', [...again, { ...unnamed, id: 'a' }])).toEqual({
        recorded: 0,
        duplicates: 3,
      });
      // Exports and copies know them.
      const read = (await one.counts.readQueries('docs', undefined, 10)).map((row) =>
        new Carried().describe(row),
      );
      expect(read.filter(({ isWithdrawn }) => isWithdrawn)).toHaveLength(2);
      await recordCarriedQueries({ store: one, clock: { now: () => nowMs } }, { kind: 'copy' }, 'blog', read);
      expect(await one.counts.count('blog', ALL_TIME)).toMatchObject({ web: 1, total: 1 });
      expect(await other.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('that were copied before their callers were known get them by the next copy', async () => {
      const [one, other] = await openTwo();
      const copy = async (days = 0) => {
        const clock = { now: () => nowMs + days * dayMs };
        const rows = await one.counts.readQueries('docs', undefined, 10);
        const read = rows.map((row) => new Carried().describe(row));
        await recordCarriedQueries({ store: other, clock }, { kind: 'copy' }, 'blog', read);
      };
      const callersOf = async (id: string) =>
        (await other.counts.readQueries(id, undefined, 10)).map(({ caller }) => caller).sort();
      await receive(one, [{}, { keys: trace(2) }, { keys: trace(3) }, { keys: trace(4) }]);
      // What telemetry named in the target, and rows of another time, stay.
      await receive(other, [named('teams', trace(3))], nowMs, 'blog');
      await other.counts.record('blog', [{ id: uuidOf(traceId(4)), caller: 'api', occurredAt: nowMs - 1 }]);
      await copy();
      expect(await callersOf('blog')).toEqual(['api', 'teams', 'unknown', 'unknown']);
      await receive(one, [named('web'), named('slack', trace(2)), named('web', trace(3))]);
      await receive(one, [named('web', trace(4))]);
      // A move takes less than a month; what is older is not looked at again.
      await copy(31);
      expect(await callersOf('blog')).toEqual(['api', 'teams', 'unknown', 'unknown']);
      for (let times = 0; times < 2; times++) await copy(30);
      expect(await callersOf('blog')).toEqual(['api', 'slack', 'teams', 'web']);
      expect(await other.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    const asked = {
      range: ALL_TIME,
      timeZone: UTC,
      weekStart: 'monday',
      caller: undefined,
      compared: undefined,
    } as const;

    test('are told as they counted before a correction of what had become known later', async () => {
      const [one, other] = await openTwo();
      const day = Math.ceil(nowMs / dayMs) * dayMs;
      await receive(one, [{}]);
      await receive(other, [named('web')], day);
      const selection = { ids: [idOfTrace] };
      const rename = { id: 'c', reason: 'a test', action: 'rename', selection, to: 'slack' } as const;
      await one.corrections.accept('docs', rename, { ...by, at: day + dayMs });
      while ((await one.corrections.step('docs', day + dayMs, 1)) !== undefined);
      const then = async (days: number) => {
        const { callers } = await CALLERS.read(other, 'docs', { ...asked, asOf: day + days * dayMs });
        return callers.map(({ caller }) => caller);
      };
      expect([await then(0), await then(1), await then(2)]).toEqual([['unknown'], ['web'], ['slack']]);
    });

    test('are told as they counted on an earlier day, and what became known since', async () => {
      const [one, other] = await openTwo();
      const day = Math.ceil(nowMs / dayMs) * dayMs;
      await receive(one, [{}, { keys: trace(2) }, { keys: message('a', trace(3)) }, { keys: trace(4) }]);
      await receive(one, [{ ...named('slack', trace(5)), occurredAt: day }], day);
      await receive(other, [named('web'), { keys: message('a', trace(2)) }], day);
      await receive(other, [{ keys: { ...trace(4), isIgnored: true } }], day + 1);
      await receive(other, [{ keys: message('a', trace(5)), occurredAt: day }], day + 2);
      expect(await countsOf(one)).toEqual({ web: 1, slack: 1 });
      const { callers } = await CALLERS.read(one, 'docs', { ...asked, asOf: day });
      expect(callers).toMatchObject([{ caller: 'unknown', count: 4 }]);
      const { changes, difference } = await CHANGES.read(one, 'docs', { ...asked, since: day });
      const known = { cause: 'known', by: 'telemetry', correction: null };
      expect(difference).toMatchObject({ web: 1, other: -3, total: -2 });
      expect(changes).toEqual([
        expect.objectContaining({ ...known, caller: 'unknown', count: -4 }),
        expect.objectContaining({ ...known, caller: 'slack', count: 1 }),
        expect.objectContaining({ ...known, caller: 'web', count: 1 }),
      ]);
    });

    test('do not count while all that is known of them is to be ignored', async () => {
      const [one, other] = await openTwo();
      const ignored = { keys: { ...trace(), isIgnored: true } };
      await receive(one, [{ ...named('web') }]);
      for (let times = 0; times < 2; times++) await receive(other, [ignored]);
      expect(await countsOf(one)).toEqual({});
      for (let times = 0; times < 2; times++) await receive(one, [{}]);
      expect(await countsOf(other)).toEqual({ web: 1 });
      // A request has taken the key since.
      await receive(one, [named('web', entry(1))]);
      await receive(other, [ignored]);
      expect(await countsOf(one)).toEqual({ web: 1 });
      expect(await other.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('are settled once though all handles find them at once, and by the next one if a process ended', async () => {
      const { open } = await factory();
      const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
      await handles[0]?.directory.createProject(projectOf('docs'), by);
      const numbers = Array.from({ length: 6 }, (_, at) => at);
      const found = numbers.flatMap((at) => [
        [{ keys: trace(at) }],
        [named('web', trace(at))],
        [named('web', message('a', entry(1, at)))],
        [{ keys: entry(1, at) }],
      ]);
      await Promise.all(found.map((some, at) => receive(handles[at % 4] as Store, some)));
      const [one, other] = handles as [Store, Store];
      for (const some of found) await receive(one, some);
      expect(await countsOf(other)).toEqual({ web: 1 });
      await receive(one, [{ keys: trace(9) }]);
      const facts = { ...named('web', trace(9)), occurredAt: nowMs };
      const { pending } = await one.identities.identify('docs', [facts], 'question', nowMs);
      expect(pending).toHaveLength(1);
      await receive(other, [{ keys: message('a') }]);
      expect(await countsOf(one)).toEqual({ web: 2 });
      expect(await other.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('are removed with their project', async () => {
      const [one, other] = await openTwo();
      await identify(one, 'docs', [trace()], nowMs);
      await identify(one, 'docs', [entry(1)], nowMs);
      await one.directory.deleteProject('default', 'docs', by);
      await expect(identify(other, 'docs', [trace()], nowMs)).rejects.toMatchObject({
        code: 'not_found',
      });
      while (!(await other.maintenance.purgeDeleted(100)).done);
      await one.directory.createProject(projectOf('docs'), by);
      expect(await identify(one, 'docs', [entry(1)], nowMs)).toEqual([entryId(1)]);
      expect(await one.counts.count('docs', ALL_TIME)).toMatchObject({ total: 0 });
    });
  });
}
