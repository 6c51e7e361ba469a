import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import type { Query } from '../../src/domain/queries/query.js';
import { recount, recountCallers } from '../laws/events.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';

const query = (id: string, caller = 'web', occurredAt = 0): Query => ({ id, caller, occurredAt });

export function describeRecording(kind: string, factory: PlaceFactory): void {
  async function openWithProjects(...ids: string[]) {
    const store = await (await factory()).open();
    for (const id of ids) await store.directory.createProject(projectOf(id), by);
    return store;
  }

  describe(`${kind}: recording`, () => {
    test('refuses an unknown project', async () => {
      const store = await openWithProjects();
      await expect(store.counts.record('none', [query('a')])).rejects.toMatchObject({ code: 'not_found' });
      await expect(store.counts.record('none', [])).rejects.toMatchObject({ code: 'not_found' });
    });

    test('accepts an empty batch', async () => {
      const store = await openWithProjects('p');
      expect(await store.counts.record('p', [])).toEqual({ recorded: 0, duplicates: 0 });
    });

    test('ignores a repeated id, whatever its other fields', async () => {
      const store = await openWithProjects('p');
      expect(await store.counts.record('p', [query('a', 'web', 1000)])).toEqual({
        recorded: 1,
        duplicates: 0,
      });
      expect(await store.counts.record('p', [query('a', 'api', 9000)])).toEqual({
        recorded: 0,
        duplicates: 1,
      });
      expect(await store.counts.count('p', ALL_TIME)).toEqual({ web: 1, api: 0, other: 0, total: 1 });
      expect(await store.counts.count('p', { from: 1000, to: 1001 })).toMatchObject({ web: 1 });
    });

    test('counts the first query with an id within a batch', async () => {
      const store = await openWithProjects('p');
      const batch = [query('a', 'slack', 5), query('b'), query('a', 'api', 6), query('a', 'web', 7)];
      expect(await store.counts.record('p', batch)).toEqual({ recorded: 2, duplicates: 2 });
      expect(await store.counts.count('p', ALL_TIME)).toEqual({ web: 1, api: 0, other: 1, total: 2 });
      expect(await store.counts.count('p', { from: 5, to: 6 })).toMatchObject({ other: 1, total: 1 });
    });

    test('counts the same id in another project separately', async () => {
      const store = await openWithProjects('p', 'q');
      await store.counts.record('p', [query('a')]);
      expect(await store.counts.record('q', [query('a', 'api')])).toEqual({ recorded: 1, duplicates: 0 });
      expect(await store.counts.count('p', ALL_TIME)).toMatchObject({ web: 1, api: 0 });
      expect(await store.counts.count('q', ALL_TIME)).toMatchObject({ web: 0, api: 1 });
    });

    test('distinguishes all different ids', async () => {
      const store = await openWithProjects('p');
      const uuid = '0190a8b2-7c3e-7d4f-8a5b-6c7d8e9f0a1b';
      const ids = [
        uuid,
        uuid.toUpperCase(),
        uuid.replaceAll('-', ''),
        `${uuid} `,
        `{${uuid}}`,
        Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('latin1'),
        '1',
        '01',
        '1.0',
        '1e0',
        'a',
        'A',
        'ä',
        'a\u0308',
        'a ',
        ' a',
        'null',
        '😀'.repeat(128),
        `${'😀'.repeat(127)}😁`,
        "'; DROP TABLE query; --",
        '\u0001',
        '\ufeffa',
        '%',
        '_',
      ];
      expect(
        await store.counts.record(
          'p',
          ids.map((id) => query(id)),
        ),
      ).toEqual({ recorded: ids.length, duplicates: 0 });
      expect(
        await store.counts.record(
          'p',
          ids.map((id) => query(id)),
        ),
      ).toEqual({ recorded: 0, duplicates: ids.length });
    });

    test('accepts batches of any size', async () => {
      const store = await openWithProjects('p');
      for (const size of [1, 31, 32, 33, 64, 1000, 10_000]) {
        const batch = Array.from({ length: size }, (_, at) =>
          query(`${size}-${at}`, ['web', 'api', 'x'][at % 3], at * 777),
        );
        expect(await store.counts.record('p', batch)).toEqual({ recorded: size, duplicates: 0 });
        expect(await store.counts.record('p', batch.toReversed())).toEqual({ recorded: 0, duplicates: size });
      }
      expect((await store.counts.count('p', ALL_TIME)).total).toBe(1 + 31 + 32 + 33 + 64 + 1000 + 10_000);
      expect((await store.maintenance.verify()).differencesTotal).toBe(0);
    });

    test('counts one known query of a hundred once, wherever it is in the batch', async () => {
      const places = [0, 1, 31, 32, 33, 95, 96, 97];
      const store = await openWithProjects(...places.map(String));
      const callers = ['web', 'api', 'slack', 'bot'];
      const all = Array.from({ length: 100 }, (_, at) => query(`${at}`, callers[at % 4], at * 7000));
      for (const place of places) {
        const id = String(place);
        const known = all[place] ?? query('none');
        await store.counts.record(id, [{ ...known, caller: 'api' }]);
        const twice = [...all, ...all.slice(40, 45)];
        expect(await store.counts.record(id, twice)).toEqual({ recorded: 99, duplicates: 6 });
        const counted = all.map((one) => (one === known ? { ...known, caller: 'api' } : one));
        for (const range of [
          ALL_TIME,
          { from: 0, to: known.occurredAt },
          { from: known.occurredAt, to: 650_000 },
        ]) {
          expect(await store.counts.count(id, range)).toEqual(recount(counted, range));
          expect(await store.counts.countCallers(id, range)).toEqual(recountCallers(counted, range));
        }
      }
      const queries = places.length * all.length;
      expect(await store.maintenance.verify()).toMatchObject({ queries, differencesTotal: 0 });
    });

    test('counts each id once when two handles record it concurrently', async () => {
      const { open } = await factory();
      const handles = [await open(), await open()];
      await handles[0]?.directory.createProject(projectOf('p'), by);
      const results = await Promise.all(
        Array.from({ length: 60 }, (_, turn) => {
          const batch = Array.from({ length: 50 }, (_, at) =>
            query(`id ${(turn * 17 + at) % 300}`, 'api', at),
          );
          return handles[turn % 2]?.counts.record('p', batch);
        }),
      );
      const recorded = results.reduce((sum, result) => sum + (result?.recorded ?? 0), 0);
      const duplicates = results.reduce((sum, result) => sum + (result?.duplicates ?? 0), 0);
      expect([recorded, recorded + duplicates]).toEqual([300, 3000]);
      for (const handle of handles)
        expect(await handle.counts.count('p', ALL_TIME)).toMatchObject({ api: 300, total: 300 });
      expect((await handles[0]?.maintenance.verify())?.differencesTotal).toBe(0);
    });

    test('returns queries unchanged, in pages', async () => {
      const store = await openWithProjects('p', 'q');
      expect(await store.counts.readQueries('none', undefined, 10)).toEqual([]);
      expect(await store.counts.readQueries('p', undefined, 10)).toEqual([]);
      const sixteen = 'sixteen bytes ..';
      const ids = [
        '0190a8b2-7c3e-7d4f-8a5b-6c7d8e9f0a1b',
        '0190A8B2-7C3E-7D4F-8A5B-6C7D8E9F0A1B',
        '00000000-0000-0000-0000-000000000000',
        sixteen,
        sixteen.slice(1),
        `${sixteen}!`,
        '\u0001'.repeat(16),
        'é'.repeat(8),
        '😀'.repeat(128),
        ...Array.from({ length: 40 }, (_, at) => `id ${at}`),
      ];
      const sent = ids.map((id, at) => query(id, ['web', 'api', 'null', 'sdk-x'][at % 4], at - 20));
      await store.counts.record('p', sent);
      await store.counts.record('q', [query('of another project')]);
      for (const limit of [1, 7, sent.length, 1000]) {
        const read: Query[] = [];
        for (;;) {
          const page = await store.counts.readQueries('p', read.at(-1)?.id, limit);
          expect(page.length).toBe(Math.min(limit, sent.length - read.length));
          read.push(...page);
          if (page.length < limit) break;
        }
        expect(read.toSorted((a, b) => a.occurredAt - b.occurredAt)).toEqual(
          sent.map((one) => ({ ...one, receipt: null })),
        );
      }
    });

    test('knows how each query arrived first', async () => {
      const store = await openWithProjects('p', 'q');
      const [key, file, old] = [
        { day: 20_000, sender: 'key:a' },
        { day: 20_000, sender: 'import:"{a}\\b", null, é😀' },
        { day: -3, sender: 'copy' },
      ];
      await store.counts.record('p', [query('a'), { ...query('b'), receipt: old }, query('a')], key);
      await store.counts.record(
        'p',
        [query('a'), query('b'), query('c'), { ...query('d'), receipt: null }],
        file,
      );
      await store.counts.record('p', [query('e')]);
      await store.counts.record('p', [query('f')], key);
      await store.counts.record('q', [query('a')], old);
      const receipts = Object.fromEntries(
        (await store.counts.readQueries('p', undefined, 10)).map(({ id, receipt }) => [id, receipt]),
      );
      expect(receipts).toEqual({ a: key, b: old, c: file, d: null, e: null, f: key });
      expect((await store.counts.readQueries('q', undefined, 10)).map(({ receipt }) => receipt)).toEqual([
        old,
      ]);
    });

    test('knows how queries arrived whose receipts several handles see first at the same time', async () => {
      const { open } = await factory();
      const handles = [await open(), await open(), await open()];
      await handles[0]?.directory.createProject(projectOf('p'), by);
      await Promise.all(
        Array.from({ length: 60 }, (_, turn) =>
          handles[turn % 3]?.counts.record('p', [query(`${turn}`), query(`${turn} too`)], {
            day: Math.floor(turn / 6),
            sender: `key:${turn % 2}`,
          }),
        ),
      );
      const rows = (await handles[0]?.counts.readQueries('p', undefined, 1000)) ?? [];
      expect(rows).toHaveLength(120);
      for (const { id, receipt } of rows) {
        const turn = Number.parseInt(id, 10);
        expect(receipt, id).toEqual({ day: Math.floor(turn / 6), sender: `key:${turn % 2}` });
      }
    });

    test('accepts any number of caller names', async () => {
      const store = await openWithProjects('p');
      const names = [
        'web',
        'api',
        'other',
        'web2',
        'a'.repeat(64),
        '0',
        '...',
        ...Array.from({ length: 500 }, (_, at) => `sdk-${at}`),
      ];
      await store.counts.record(
        'p',
        names.map((name) => query(`from ${name}`, name)),
      );
      await store.counts.record(
        'p',
        names.map((name) => query(`again from ${name}`, name)),
      );
      expect(await store.counts.count('p', ALL_TIME)).toEqual({
        web: 2,
        api: 2,
        other: 2 * (names.length - 2),
        total: 2 * names.length,
      });
    });
  });
}
