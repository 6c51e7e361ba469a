/** What arrives, counted by source: the sums of all handles, of bounded size, gone with their project. */
import { describe, expect, test } from 'vitest';
import type { RefusalReason } from '../../src/domain/ingestion/refusals.js';
import {
  bucketWidthMs,
  type IngestionCounts,
  NO_COUNTS,
  OTHER_SOURCES,
  type SourceBucket,
} from '../../src/domain/ingestion/source-counts.js';
import { operationsMax, sourcesMax } from '../../src/domain/limits.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';

const start = 100 * bucketWidthMs;

interface Arrived extends Partial<IngestionCounts> {
  readonly name?: string;
  readonly bucket?: number;
  readonly seenAt?: number;
  readonly operations?: Readonly<Record<string, number>>;
}

function bucketOf({ name = 'docs', bucket = 0, seenAt, operations = {}, ...counts }: Arrived): SourceBucket {
  return {
    kind: 'traces',
    name,
    bucket: start + bucket * bucketWidthMs,
    seenAt: seenAt ?? start + bucket * bucketWidthMs,
    counts: { ...NO_COUNTS, ...counts },
    operations: new Map(Object.entries(operations)),
  };
}

export function describeIngestion(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [one, other] = [await open(), await open()];
    for (const id of ['docs', 'blog']) await one.directory.createProject(projectOf(id), by);
    return [one, other] as const;
  };

  describe(`${kind}: what arrives`, () => {
    test('at no project is refused', async () => {
      const [{ ingestion }] = await openTwo();
      const notFound = { code: 'not_found' };
      await expect(ingestion.add('none', [bucketOf({})])).rejects.toMatchObject(notFound);
      await expect(ingestion.listSources('none')).rejects.toMatchObject(notFound);
      await expect(ingestion.sum('none', 0)).rejects.toMatchObject(notFound);
      const everything = { bucketsBefore: start, seenBefore: start };
      await expect(ingestion.prune('none', everything, 1)).rejects.toMatchObject(notFound);
    });

    test('adds up over handles, buckets and operations, within its project', async () => {
      const [one, other] = await openTwo();
      const counts = { requests: 1, arrived: 5, recorded: 1, duplicates: 1, rejected: 1, unmatched: 2 };
      await one.ingestion.add('docs', [bucketOf({ ...counts, operations: { 'a=x': 1, 'a=y': 2 } })]);
      await other.ingestion.add('docs', [
        bucketOf({ ...counts, refused: 1, operations: { 'a=x': 3 } }),
        bucketOf({ ...counts, bucket: 1 }),
        bucketOf({ arrived: 7, name: 'bot', seenAt: start - 1 }),
      ]);
      await one.ingestion.add('blog', [bucketOf({ arrived: 1 })]);
      // What waited elsewhere does not set the clock back.
      await one.ingestion.add('docs', [bucketOf({ name: 'bot', seenAt: start - 2 })]);
      const sums = {
        requests: 3,
        refused: 1,
        arrived: 15,
        recorded: 3,
        duplicates: 3,
        rejected: 3,
        unmatched: 6,
      };
      const bot = {
        kind: 'traces',
        name: 'bot',
        counts: { ...NO_COUNTS, arrived: 7 },
        operations: new Map(),
      };
      expect(await one.ingestion.sum('docs', start)).toEqual([
        bot,
        {
          kind: 'traces',
          name: 'docs',
          counts: sums,
          operations: new Map([
            ['a=x', 4],
            ['a=y', 2],
          ]),
        },
      ]);
      expect(await other.ingestion.sum('docs', start + 1)).toEqual([
        { kind: 'traces', name: 'docs', counts: { ...NO_COUNTS, ...counts }, operations: new Map() },
      ]);
      expect(await other.ingestion.listSources('docs')).toEqual([
        { kind: 'traces', name: 'bot', seenAt: start - 1 },
        { kind: 'traces', name: 'docs', seenAt: start + bucketWidthMs },
      ]);
    });

    test('is not lost if many handles add at once', async () => {
      const { open } = await factory();
      const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
      await handles[0]?.directory.createProject(projectOf('docs'), by);
      const names = ['a', 'b', 'c'];
      await Promise.all(
        Array.from({ length: 24 }, (_, at) => {
          const sent = names.map((name) =>
            bucketOf({ name, arrived: 1, operations: { 'a=x': 1, 'a=y': 1 } }),
          );
          return handles[at % handles.length]?.ingestion.add('docs', at % 2 === 0 ? sent : sent.toReversed());
        }),
      );
      const sums = await handles[1]?.ingestion.sum('docs', start);
      expect(sums?.map(({ counts, operations }) => [counts.arrived, ...operations.values()])).toEqual(
        names.map(() => [24, 24, 24]),
      );
    });

    test('has few names and operations, and the sums of all others', async () => {
      const [{ ingestion }] = await openTwo();
      const named = (from: number, count: number) =>
        Array.from({ length: count }, (_, at) => bucketOf({ name: `s${from + at}`, arrived: 1 }));
      await ingestion.add('docs', named(0, sourcesMax - 1));
      await ingestion.add('docs', named(sourcesMax - 2, 4));
      const sums = await ingestion.sum('docs', start);
      expect(sums).toHaveLength(sourcesMax + 1);
      expect(sums.find(({ name }) => name === OTHER_SOURCES)?.counts.arrived).toBe(2);
      const operations = Object.fromEntries(Array.from({ length: operationsMax }, (_, at) => [`a=${at}`, 1]));
      await ingestion.add('blog', [bucketOf({ operations })]);
      await ingestion.add('blog', [bucketOf({ operations: { 'b=1': 9, 'a=1': 1 } })]);
      const [found] = await ingestion.sum('blog', start);
      expect([...(found?.operations ?? [])].slice(0, 2)).toEqual([
        ['a=1', 2],
        ['a=0', 1],
      ]);
      expect(found?.operations.size).toBe(operationsMax);
    });

    test('is removed when it is old, in small steps', async () => {
      const [{ ingestion }, other] = await openTwo();
      const horizon = { bucketsBefore: start + bucketWidthMs, seenBefore: start + 1 };
      const old = ['docs', 'bot', 'cron'].map((name) =>
        bucketOf({ name, arrived: 1, operations: { 'a=x': 1 } }),
      );
      await ingestion.add('docs', [...old, bucketOf({ bucket: 1, arrived: 2 })]);
      await ingestion.add('blog', [bucketOf({ bucket: 2, arrived: 4 })]);
      expect(await ingestion.listOutdated(horizon)).toEqual(['docs']);
      const steps: number[] = [];
      for (let done = false; !done; ) {
        const step = await other.ingestion.prune('docs', horizon, 3);
        steps.push(step.removed);
        done = step.done;
      }
      // Six rows of counts and two sources.
      expect(steps).toEqual([3, 3, 2]);
      expect(await ingestion.prune('blog', horizon, 3)).toEqual({ removed: 0, done: true });
      expect(await ingestion.listOutdated(horizon)).toEqual([]);
      expect((await ingestion.sum('docs', 0)).map(({ counts }) => counts.arrived)).toEqual([2]);
      expect((await ingestion.sum('blog', 0)).map(({ counts }) => counts.arrived)).toEqual([4]);
      expect(await ingestion.listSources('docs')).toEqual([
        { kind: 'traces', name: 'docs', seenAt: start + bucketWidthMs },
      ]);
      // A source that was not seen for long has no counts any more.
      expect(
        await ingestion.listOutdated({ bucketsBefore: 0, seenBefore: start + 2 * bucketWidthMs }),
      ).toEqual(['docs']);
    });

    test('keeps the refusals of all handles as long as the source, the last ones first', async () => {
      const [one, other] = await openTwo();
      const refused = (bucket: number, reason: RefusalReason, keyId: string | null, requests = 1) => ({
        ...bucketOf({ refused: requests, bucket }),
        refusals: [{ reason, keyId, requests, records: 2 }],
      });
      await one.ingestion.add('docs', [refused(0, 'key-expired', 'k1'), refused(1, 'key-expired', 'k1', 4)]);
      await other.ingestion.add('docs', [refused(0, 'key-expired', 'k1'), refused(0, 'key-unknown', null)]);
      await other.ingestion.add('docs', [refused(0, 'too-large', 'k2')]);
      const kept = (reason: RefusalReason, keyId: string | null, rest: object) => ({
        ...{ kind: 'traces', name: 'docs', reason, keyId, requests: 1, records: 2, bucket: start },
        ...rest,
      });
      const all = [
        kept('key-expired', 'k1', { requests: 6, records: 6, bucket: start + bucketWidthMs }),
        kept('key-unknown', null, {}),
        kept('too-large', 'k2', {}),
      ];
      expect(await one.ingestion.listRefusals('docs')).toEqual(all);
      expect(await one.ingestion.listRefusals('blog')).toEqual([]);
      await expect(one.ingestion.listRefusals('none')).rejects.toMatchObject({ code: 'not_found' });
      const sums = await one.ingestion.sum('docs', 0);
      expect(sums.map(({ counts, operations }) => [counts.refused, operations.size])).toEqual([[8, 0]]);
      const later = start + 2 * bucketWidthMs;
      await one.ingestion.prune('docs', { bucketsBefore: later, seenBefore: 0 }, 100);
      expect(await one.ingestion.sum('docs', 0)).toEqual([]);
      expect(await one.ingestion.listRefusals('docs')).toEqual(all);
      expect(await one.ingestion.listOutdated({ bucketsBefore: later, seenBefore: 0 })).toEqual([]);
      // The source was seen later than some of its refusals.
      const seenBefore = start + bucketWidthMs;
      expect(await one.ingestion.listOutdated({ bucketsBefore: 0, seenBefore })).toEqual(['docs']);
      await one.ingestion.prune('docs', { bucketsBefore: later, seenBefore: later }, 100);
      expect(await one.ingestion.listRefusals('docs')).toEqual([]);
    });

    test('is not stored for a new project with the id of a deleted one', async () => {
      const [store] = await openTwo();
      const { createdAt, organizationId } = projectOf('docs');
      await store.ingestion.add('docs', [bucketOf({ arrived: 1 })], { createdAt, organizationId });
      for (const other of [{ createdAt: createdAt - 1 }, { organizationId: 'rival' }])
        await expect(store.ingestion.add('docs', [bucketOf({ arrived: 1 })], other)).rejects.toMatchObject({
          code: 'not_found',
        });
      expect(await store.ingestion.sum('docs', 0)).toMatchObject([{ counts: { arrived: 1 } }]);
    });

    test('is removed with its project', async () => {
      const [store] = await openTwo();
      await store.ingestion.add('docs', [bucketOf({ arrived: 1, operations: { 'a=x': 1 } })]);
      await store.directory.deleteProject('default', 'docs', by);
      await expect(store.ingestion.add('docs', [bucketOf({ arrived: 1 })])).rejects.toMatchObject({
        code: 'not_found',
      });
      let removed = 0;
      for (let done = false; !done; ) {
        const step = await store.maintenance.purgeDeleted(1);
        removed += step.removed;
        done = step.done;
      }
      expect(removed).toBe(3);
      await store.directory.createProject(projectOf('docs'), by);
      expect([await store.ingestion.listSources('docs'), await store.ingestion.sum('docs', 0)]).toEqual([
        [],
        [],
      ]);
    });
  });
}
