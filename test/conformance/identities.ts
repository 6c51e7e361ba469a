/** The ids of queries: the same for every handle, whatever arrives first and at the same time. */
import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { QueryKeys } from '../../src/domain/queries/query-identity.js';
import { expiredKeysMin, keysKeptMs } from '../../src/storage/ports/identities.js';
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
      await expect(store.identities.identify('none', [trace()], nowMs)).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    test('have the same ids for every handle, and others in another project', async () => {
      const [one, other] = await openTwo();
      expect(await one.identities.identify('docs', [trace()], nowMs)).toEqual([idOfTrace]);
      expect(await other.identities.identify('docs', [entry(1), entry(2)], nowMs)).toEqual([
        idOfTrace,
        entryId(2),
      ]);
      expect(await one.identities.identify('docs', [trace(), entry(2), entry(1)], nowMs)).toEqual([
        idOfTrace,
        entryId(2),
        idOfTrace,
      ]);
      expect(await one.identities.identify('blog', [entry(1)], nowMs)).toEqual([entryId(1)]);
      expect(await one.identities.identify('docs', [], nowMs)).toEqual([]);
    });

    test('are the recorded queries of their traces', async () => {
      const [one, other] = await openTwo();
      await one.counts.record('docs', [{ id: idOfTrace, caller: 'web', occurredAt: nowMs }]);
      expect(await other.identities.identify('docs', [entry(2), entry(1), trace()], nowMs)).toEqual([
        entryId(2),
        idOfTrace,
        idOfTrace,
      ]);
      expect(await one.identities.identify('docs', [entry(1), entry(2)], nowMs)).toEqual([
        idOfTrace,
        entryId(2),
      ]);
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
        batches.map((batch, at) => handles[at % handles.length]?.identities.identify('docs', batch, nowMs)),
      );
      const again = await Promise.all(
        batches.map((batch) => handles[0]?.identities.identify('docs', batch, nowMs)),
      );
      expect(new Set(again.flat()).size).toBe(new Set(ids.flat()).size);
      const ofEntries = traces.map((at) => [entry(1, at), entry(2, at)]);
      const found = await handles[1]?.identities.identify('docs', ofEntries.flat(), nowMs);
      expect(new Set(found).size).toBe(2 * traces.length);
    });

    test('keep their ids for a while and not forever', async () => {
      const [one, other] = await openTwo();
      expect(await one.identities.identify('docs', [trace()], nowMs)).toEqual([idOfTrace]);
      expect(await one.identities.identify('docs', [entry(1)], nowMs)).toEqual([idOfTrace]);
      expect(await other.identities.identify('docs', [entry(1)], nowMs + keysKeptMs - 1)).toEqual([
        idOfTrace,
      ]);
      expect(await other.identities.identify('docs', [entry(1)], nowMs + keysKeptMs)).toEqual([entryId(1)]);
    });

    test('do not pile up, however many a call adds', async () => {
      const [one, other] = await openTwo();
      const many = Array.from({ length: 3 * expiredKeysMin }, (_, at) => at);
      await one.identities.identify('docs', many.map(trace), nowMs);
      const entries = many.map((at) => entry(at, at));
      // A key of a trace that is still there would make each of them the query of its trace.
      expect(await other.identities.identify('docs', entries, nowMs + keysKeptMs)).toEqual(
        many.map((at) => `${traceId(at)}-${spanId(at)}`),
      );
    });

    test('of many kinds are identified at once', async () => {
      const [one, other] = await openTwo();
      const many = Array.from({ length: expiredKeysMin + 50 }, (_, at) => entry(at, at));
      const ids = await one.identities.identify('docs', many, nowMs);
      expect(new Set(ids).size).toBe(many.length);
      expect(await other.identities.identify('docs', many.toReversed(), nowMs)).toEqual(ids.toReversed());
    });

    test('are removed with their project', async () => {
      const [one, other] = await openTwo();
      await one.identities.identify('docs', [trace()], nowMs);
      await one.identities.identify('docs', [entry(1)], nowMs);
      await one.directory.deleteProject('default', 'docs', by);
      await expect(other.identities.identify('docs', [trace()], nowMs)).rejects.toMatchObject({
        code: 'not_found',
      });
      while (!(await other.maintenance.purgeDeleted(100)).done);
      await one.directory.createProject(projectOf('docs'), by);
      expect(await one.identities.identify('docs', [entry(1)], nowMs)).toEqual([entryId(1)]);
      expect(await one.counts.count('docs', ALL_TIME)).toMatchObject({ total: 0 });
    });
  });
}
