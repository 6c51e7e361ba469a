import { describe, expect, test } from 'vitest';
import { pagesOf } from '../../src/app/reading/pages.js';
import {
  type Correction,
  type CorrectionRequest,
  parseCorrection,
  splitRequest,
} from '../../src/domain/corrections/correction.js';
import { countFigures, NO_FIGURES } from '../../src/domain/corrections/figures.js';
import { ALL_TIME, type DateRange } from '../../src/domain/counting/date-range.js';
import { correctionStepQueriesMax, pageCorrectionsMax } from '../../src/domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { isCounted, type Receipt, type RecordedQuery } from '../../src/domain/queries/receipt.js';
import { dayMs } from '../../src/domain/time/duration.js';
import type { RecordedCount } from '../../src/storage/ports/counts.js';
import type { PastPage, PastRange } from '../../src/storage/ports/history.js';
import type { Store } from '../../src/storage/ports/store.js';
import { by, type PlaceFactory, projectOf, purgeAll, retainAll } from '../support/storage/store.js';

const org = DEFAULT_ORGANIZATION_ID;
const today = Date.UTC(2026, 5, 15);
const now = today + 40_000_000;
const day = today / dayMs;

const key = (name: string, on = day): Receipt => ({ day: on, sender: `key:${name}` });

/** A request from its fields. */
function requestOf(fields: Record<string, unknown>) {
  const parsed = parseCorrection({ reason: 'a test', ...fields });
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.value;
}

/** Accepts a correction and carries it out. */
async function correct(store: Store, fields: Record<string, unknown>, limit = 2): Promise<Correction> {
  const request = requestOf(fields);
  await store.corrections.accept('p', request, by);
  for (;;) {
    const done = await store.corrections.step('p', now, limit);
    if (done?.finishedAt !== null && done?.request.id === request.id) return done;
  }
}

/** What is read of the past of a project, page by page. */
async function pastPages({ history }: Store, range: PastRange): Promise<PastPage['queries'][]> {
  const pages: PastPage['queries'][] = [];
  let from: string | null = null;
  do {
    const page: PastPage = await history.readPast('p', range, from);
    pages.push(page.queries);
    from = page.next;
  } while (from !== null);
  return pages;
}

/** Everything that counts tell of a project. */
async function answersOf(store: Store) {
  const range: DateRange = { from: today - 7_200_000 + 1, to: today + 7_200_000 };
  const bounds = [today - dayMs, today - 1, today, today + 1, today + 3, today + dayMs];
  return {
    all: await store.counts.count('p', ALL_TIME),
    part: await store.counts.count('p', range),
    callers: await store.counts.countCallers('p', ALL_TIME),
    series: await store.counts.countSeriesByCaller('p', bounds, ['web', 'slak', 'slack']),
    extent: await store.counts.findExtent('p'),
    rows: (await store.counts.readQueries('p', undefined, 1000))
      .filter(isCounted)
      .map(({ corrected: _, ...query }) => query),
    cut: await store.counts.findCutSpan('p', [today + 1, today + 2]),
    imported: (await store.counts.readImportedCounts('p', undefined, 1000))
      .filter(({ withdrawnBy }) => withdrawnBy === undefined)
      .map(({ withdrawals: _, ...count }) => count),
  };
}

async function expectSound(store: Store): Promise<void> {
  expect(await store.maintenance.verify()).toMatchObject({
    damage: [],
    differences: [],
    differencesTotal: 0,
  });
}

export function describeCorrections(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    await store.directory.createProject(projectOf('p'), by);
    const queries = Array.from({ length: 12 }, (_, at) => ({
      id: at % 2 === 0 ? `id ${at}` : `0190a8b2-7c3e-7d4f-8a5b-${String(at).padStart(12, '0')}`,
      caller: ['web', 'api', 'slak', 'slack'][at % 4] ?? 'web',
      occurredAt: today + (at - 6) * 3_600_000,
    }));
    await store.counts.record('p', queries.slice(0, 6), key('k1'));
    await store.counts.record('p', queries.slice(6), key('k2'));
    return { store, other, queries };
  };

  describe(`${kind}: corrections`, () => {
    test('refuses what it cannot do, and changes nothing', async () => {
      const { store, other } = await openTwo();
      await correct(store, { id: 'rename', action: 'rename', caller: 'slak', to: 'slack' });
      await correct(store, { id: 'wrong', action: 'withdraw', ids: ['id 0'] });
      await correct(store, { id: 'undo', action: 'undo', correction: 'wrong' });
      const before = await answersOf(store);
      const refused: [fields: Record<string, unknown>, detail: RegExp][] = [
        [{ action: 'withdraw', ids: ['id 0', 'none'] }, /^ids: the project has no query "none"$/],
        [{ action: 'undo', correction: 'none' }, /^correction: there is no correction none$/],
        [{ action: 'undo', correction: 'undo' }, /^correction: undo is an undo/],
        [{ action: 'undo', correction: 'wrong' }, /^correction: wrong was undone by undo already$/],
      ];
      for (const [fields, detail] of refused) {
        const request = requestOf({ id: 'refused', ...fields });
        const error = { code: 'invalid', details: [expect.stringMatching(detail)] };
        await expect(other.corrections.accept('p', request, by)).rejects.toMatchObject(error);
        await expect(other.corrections.measure('p', request, null)).rejects.toMatchObject(error);
      }
      const another = requestOf({ id: 'rename', action: 'rename', caller: 'slak', to: 'teams' });
      await expect(other.corrections.accept('p', another, by)).rejects.toMatchObject({
        code: 'already_exists',
      });
      for (const id of ['none', 'p2'])
        await expect(other.corrections.accept(id, another, by)).rejects.toMatchObject({ code: 'not_found' });
      expect(await other.corrections.findCorrection('p', 'refused')).toBeUndefined();
      expect(await answersOf(other)).toEqual(before);
    });

    test('withdraws ids, which stay duplicates, and undoes it exactly', async () => {
      const { store, other, queries } = await openTwo();
      const before = await answersOf(store);
      const ids = ['id 0', 'id 2', 'id 6', queries[11]?.id];
      const done = await correct(other, { id: 'c', action: 'withdraw', ids });
      expect(countFigures(done.figures)).toEqual({
        ...{ web: 1, api: 0, other: 3, total: 4 },
        callers: [
          { caller: 'slak', type: 'other', count: 2 },
          { caller: 'slack', type: 'other', count: 1 },
          { caller: 'web', type: 'web', count: 1 },
        ],
      });
      expect(done.figures).toMatchObject({ first: queries[0]?.occurredAt, last: queries[11]?.occurredAt });
      const after = await answersOf(store);
      expect(after.all).toEqual({ web: 2, api: 3, other: 3, total: 8 });
      expect(after.rows.map(({ id }) => id)).toHaveLength(8);
      // The first and the last one are gone.
      expect(after.extent).toEqual({ from: queries[1]?.occurredAt, to: (queries[10]?.occurredAt ?? 0) + 1 });
      expect(await store.counts.record('p', queries, key('k1'))).toEqual({ recorded: 0, duplicates: 12 });
      expect(await answersOf(other)).toEqual(after);
      await expectSound(store);
      const withdrawn = (await other.counts.readQueries('p', undefined, 100)).filter(
        (one) => !isCounted(one),
      );
      expect(withdrawn.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      for (const { corrected, caller } of withdrawn)
        expect(corrected).toEqual({ isWithdrawn: true, changes: [{ correction: 1, caller }], known: [] });
      // The last query of a page is told of as the others are.
      let last: string | undefined;
      for (const one of await other.counts.readQueries('p', undefined, 100)) {
        expect(await other.counts.readQueries('p', last, 1)).toEqual([one]);
        last = one.id;
      }
      await correct(store, { id: 'u', action: 'undo', correction: 'c' }, 3);
      expect(await answersOf(other)).toEqual(before);
      await expectSound(store);
    });

    test('corrects by filter what was recorded before, and by whom', async () => {
      const { store, other, queries } = await openTwo();
      const request = requestOf({
        id: 'c',
        action: 'withdraw',
        recordedBy: 'key:k2',
        recordedFrom: '2026-06-15',
      });
      await store.corrections.accept('p', request, by);
      // The same key, on the same day, but later.
      await other.counts.record('p', [{ id: 'later', caller: 'web', occurredAt: today }], key('k2'));
      while ((await other.corrections.step('p', now, 2)) !== undefined);
      const { rows, all } = await answersOf(store);
      expect(all.total).toBe(7);
      expect(new Set(rows.map(({ id }) => id))).toEqual(
        new Set(['later', ...queries.slice(0, 6).map(({ id }) => id)]),
      );
      expect(
        await store.counts.record('p', [{ id: 'again', caller: 'web', occurredAt: today }], key('k2')),
      ).toEqual({ recorded: 1, duplicates: 0 });
      await correct(store, { id: 'early', action: 'withdraw', dateTo: '2026-06-15', caller: 'api' });
      expect((await answersOf(other)).all).toEqual({ web: 4, api: 0, other: 2, total: 6 });
      await expectSound(store);
    });

    test('renames to another type and another caller, and folds what is undone out of order', async () => {
      const { store, other } = await openTwo();
      const before = await answersOf(store);
      await correct(store, { id: '1', action: 'rename', caller: 'slak', to: 'slack' });
      const renamed = await answersOf(store);
      expect(renamed.all).toEqual(before.all);
      expect(renamed.callers.callers).toEqual([
        { caller: 'slack', type: 'other', count: 6 },
        { caller: 'api', type: 'api', count: 3 },
        { caller: 'web', type: 'web', count: 3 },
      ]);
      await correct(other, { id: '2', action: 'rename', caller: 'slack', to: 'web' });
      expect((await answersOf(store)).all).toEqual({ web: 9, api: 3, other: 0, total: 12 });
      await correct(other, { id: '3', action: 'withdraw', caller: 'web' });
      expect((await answersOf(store)).all).toEqual({ web: 0, api: 3, other: 0, total: 3 });
      // The second rename still concerns the queries that the first one had renamed.
      await correct(store, { id: '4', action: 'undo', correction: '1' });
      expect((await answersOf(store)).all).toEqual({ web: 0, api: 3, other: 0, total: 3 });
      await correct(store, { id: '5', action: 'undo', correction: '2' });
      await correct(other, { id: '6', action: 'undo', correction: '3' });
      expect(await answersOf(store)).toEqual(before);
      await expectSound(store);
    });

    test('withdraws the imported counts of a source, and undoes it', async () => {
      const { store, other } = await openTwo();
      const counts = ['web', 'slak', 'bot'].map((caller, at) => ({
        ...{ source: 'old', caller, start: today + at, end: today + at + 2, count: at * 5 },
      }));
      await store.counts.importCounts('p', [
        ...counts,
        { ...counts[2], source: 'kept' } as (typeof counts)[0],
      ]);
      const before = await answersOf(store);
      const done = await correct(other, { id: 'c', action: 'withdraw', source: 'old' });
      expect(countFigures(done.figures)).toMatchObject({ web: 0, other: 15, total: 15 });
      expect(await answersOf(store)).toMatchObject({ imported: [{ source: 'kept' }], cut: undefined });
      expect(before.cut).toMatchObject({ count: 5 });
      expect(await other.maintenance.verify()).toMatchObject({ importedQueries: 10 });
      expect((await answersOf(store)).all.total).toBe(before.all.total - 15);
      expect(await store.counts.importCounts('p', counts)).toEqual({ recorded: 0, duplicates: 3 });
      await expectSound(store);
      await correct(store, { id: 'u', action: 'undo', correction: 'c' });
      expect(await answersOf(other)).toEqual(before);
      await expectSound(store);
      // What comes later was never withdrawn.
      const later = { ...counts[2], start: today + dayMs, end: today + 2 * dayMs } as (typeof counts)[0];
      await store.counts.importCounts('p', [later]);
      const withdrawn = (await other.counts.readImportedCounts('p', undefined, 10)).filter(
        ({ withdrawals }) => withdrawals !== undefined,
      );
      expect(withdrawn.map(({ caller }) => caller).toSorted()).toEqual(['bot', 'slak', 'web']);
      for (const one of withdrawn) expect(one).toMatchObject({ source: 'old', withdrawals: [1] });
      expect(withdrawn).not.toContainEqual(expect.objectContaining({ start: later.start }));
    });

    test('are measured in parts, which together are what they change', async () => {
      const { store, other } = await openTwo();
      const more = Array.from({ length: correctionStepQueriesMax + 1 }, (_, at) => {
        return { id: `more ${at}`, caller: 'bot', occurredAt: today };
      });
      await store.counts.record('p', more, key('k1'));
      const fields = { id: 'c', action: 'withdraw', caller: 'bot' };
      let measured = 0;
      let from: string | null = null;
      do {
        const { figures, next } = await other.corrections.measure('p', requestOf(fields), from);
        measured += countFigures(figures).total;
        from = next;
      } while (from !== null);
      const done = await correct(store, fields, correctionStepQueriesMax);
      expect([measured, countFigures(done.figures).total]).toEqual([more.length, more.length]);
    });

    test('repeats change nothing, are found and listed, and write the audit log once', async () => {
      const { store, other } = await openTwo();
      const fields = { id: 'c', action: 'withdraw', caller: 'slak', reason: 'a bot' };
      const { figures: measured } = await store.corrections.measure('p', requestOf(fields), null);
      const done = await correct(store, fields);
      expect(measured).toEqual(done.figures);
      expect(await other.corrections.accept('p', requestOf(fields), by)).toEqual(done);
      expect(await other.corrections.step('p', now, 2)).toBeUndefined();
      expect(await other.corrections.findCorrection('p', 'c')).toEqual(done);
      await correct(store, { id: 'u', action: 'undo', correction: 'c' });
      expect(await other.corrections.listCorrections('p', undefined, 10)).toMatchObject([
        { number: 2, request: { id: 'u' }, undoneBy: null },
        { number: 1, request: { id: 'c', reason: 'a bot' }, undoneBy: 'u', figures: done.figures },
      ]);
      expect(await other.corrections.listCorrections('p', 2, 10)).toMatchObject([{ number: 1 }]);
      await correct(store, { id: 'r', action: 'rename', caller: 'slak', to: 'slack' });
      const entries = await store.directory.readAudit(org, { limit: 3 });
      expect(entries).toMatchObject([
        { action: 'correction.rename', targetId: 'p', actor: by.name, detail: expect.stringMatching(/^r /) },
        { action: 'correction.undo', targetId: 'p', actor: by.name },
        { action: 'correction.withdraw', detail: 'c withdrew 3 queries (web 0, api 0, other 3): a bot' },
      ]);
      await store.directory.createProject(projectOf('q'), by);
      expect(await other.corrections.findCorrection('q', 'c')).toBeUndefined();
      expect(await other.corrections.listCorrections('q', undefined, 10)).toEqual([]);
    });

    test('are carried out one after the other, whichever handle does it, and end with their project', async () => {
      const { store, other } = await openTwo();
      expect(await store.corrections.listUnfinished()).toEqual([]);
      await store.corrections.accept(
        'p',
        requestOf({ id: '1', action: 'rename', caller: 'slak', to: 'bot' }),
        by,
      );
      await other.corrections.accept('p', requestOf({ id: '2', action: 'withdraw', caller: 'bot' }), by);
      await expect(
        store.corrections.accept('p', requestOf({ id: '3', action: 'undo', correction: '1' }), by),
      ).rejects.toMatchObject({ details: [expect.stringMatching(/1 is not finished yet/)] });
      expect(await other.corrections.listUnfinished()).toEqual(['p']);
      for (let steps = 0; steps < 20; steps++)
        await Promise.all([store, other].map((handle) => handle.corrections.step('p', now, 1)));
      expect(await other.corrections.listUnfinished()).toEqual([]);
      expect((await answersOf(store)).all).toEqual({ web: 3, api: 3, other: 3, total: 9 });
      await store.corrections.accept('p', requestOf({ id: '3', action: 'undo', correction: '2' }), by);
      await store.directory.deleteProject(org, 'p', by);
      expect(await other.corrections.listUnfinished()).toEqual([]);
      await expect(other.corrections.step('p', now, 1)).rejects.toMatchObject({ code: 'not_found' });
      await purgeAll(store);
      await store.directory.createProject(projectOf('p'), by);
      expect(await other.corrections.listCorrections('p', undefined, 10)).toEqual([]);
    });

    test('do not concern what is recorded while they are carried out, also if nobody knows how it arrived', async () => {
      const { store, other } = await openTwo();
      await store.counts.record(
        'p',
        [{ id: 'old', caller: 'web', occurredAt: today, receipt: null }],
        key('k'),
      );
      const unknown = requestOf({ id: 'c', action: 'withdraw', recordedBy: 'unknown' });
      await store.corrections.accept('p', unknown, by);
      for (const id of ['new', 'newer'])
        await other.counts.record('p', [{ id, caller: 'web', occurredAt: today }]);
      while ((await other.corrections.step('p', now, 1)) !== undefined);
      expect((await answersOf(store)).all).toMatchObject({ web: 5, total: 14 });
      const rows = await store.counts.readQueries('p', undefined, 100);
      expect(rows.filter((one) => !isCounted(one)).map(({ id, receipt }) => [id, receipt])).toEqual([
        ['old', null],
      ]);
      await expectSound(store);
    });

    test('of another store are refused if they are unknown, and while others are carried out', async () => {
      const { store, other } = await openTwo();
      const changes = [{ correction: 'none', caller: 'web' }];
      const before = await answersOf(store);
      await expect(store.corrections.restoreChanges('p', [{ id: 'id 0', changes }])).rejects.toMatchObject({
        code: 'invalid',
        details: ['corrections: there is no correction none'],
      });
      await correct(store, { id: 'c', action: 'withdraw', caller: 'slak' });
      const [done] = await other.corrections.listFinished('p', 0, 10);
      if (done === undefined) throw new Error('it is finished');
      await other.corrections.restore('p', done);
      const request = { ...done.request, id: 'd' };
      const differs = { ...done, request: { ...done.request, reason: 'another' } };
      await expect(store.corrections.restore('p', differs)).rejects.toMatchObject({ code: 'already_exists' });
      await store.corrections.accept('p', requestOf({ id: 'u', action: 'undo', correction: 'c' }), by);
      await expect(store.corrections.restore('p', { ...done, request })).rejects.toMatchObject({
        code: 'unavailable',
      });
      expect(await other.corrections.listFinished('p', 0, 10)).toHaveLength(1);
      while ((await other.corrections.step('p', now, 1)) !== undefined);
      await store.corrections.restore('p', { ...done, request });
      const restored = [{ id: 'id 0', changes: [{ correction: 'd', caller: 'web' }] }];
      for (let times = 0; times < 2; times++)
        await other.corrections.restoreChanges('p', [...restored, { id: 'unknown', changes: [] }]);
      expect((await answersOf(store)).all.total).toBe(11);
      await correct(store, { id: 'v', action: 'undo', correction: 'd' });
      expect(await answersOf(other)).toEqual(before);
      await expectSound(store);
    });

    test('of another store withdraw the imported counts that they had withdrawn there', async () => {
      const { store, other } = await openTwo();
      const places = ['web', 'slack'].map((caller) => ({ source: 'old', caller, start: today }));
      await store.counts.importCounts(
        'p',
        places.map((place) => ({ ...place, end: today + 1, count: 5 })),
      );
      const before = await answersOf(store);
      const [place] = places as [(typeof places)[0]];
      const unknown = [{ ...place, withdrawals: ['none'], withdrawnBy: 'none' }];
      await expect(store.corrections.restoreWithdrawals('p', unknown)).rejects.toMatchObject({
        ...{ code: 'invalid', details: ['corrections: there is no correction none'] },
      });
      const [first, second] = ['1', '2'].map((id) =>
        requestOf({ id, action: 'withdraw', source: 'old' }),
      ) as [CorrectionRequest, CorrectionRequest];
      const undo = requestOf({ id: 'u', action: 'undo', correction: '1' });
      for (const request of [first, undo, second])
        await store.corrections.restore('p', {
          ...{ request: splitRequest(request).summary, idsHash: null, figures: NO_FIGURES },
          ...{ createdBy: by.name, createdAt: now, finishedAt: now },
        });
      expect(await other.corrections.findCorrection('p', '1')).toMatchObject({ number: 1, undoneBy: 'u' });
      const twice = [{ ...place, withdrawals: ['1', '2'], withdrawnBy: '2' }];
      for (const handle of [store, other]) {
        await handle.corrections.restoreWithdrawals('p', twice);
        const read = await other.counts.readImportedCounts('p', undefined, 10);
        expect(read.find(({ caller }) => caller === 'web')).toMatchObject({
          withdrawals: [1, 3],
          withdrawnBy: 3,
        });
        expect((await answersOf(handle)).all.total).toBe(before.all.total - 5);
        await expectSound(store);
      }
      await store.corrections.restoreWithdrawals('p', [
        { ...place, withdrawals: ['1', '2'], withdrawnBy: null },
      ]);
      expect(await answersOf(other)).toEqual(before);
      await expectSound(store);
    });

    test('refuses what retention has removed, which waits for corrections', async () => {
      const { store, other, queries } = await openTwo();
      const rename = requestOf({ id: '1', action: 'rename', caller: 'web', to: 'bot' });
      await store.corrections.accept('p', rename, by);
      await store.directory.changeProject(org, 'p', { retentionDays: 1 }, by);
      expect(await other.maintenance.applyRetention(now + dayMs, 100)).toEqual({ removed: 0, done: true });
      while ((await other.corrections.step('p', now, 2)) !== undefined);
      await correct(store, { id: '2', action: 'withdraw', dateTo: '2026-06-15' });
      const before = await answersOf(store);
      await retainAll(store, now + dayMs, 3);
      expect(await store.counts.count('p', ALL_TIME)).toEqual(before.all);
      for (const [fields, detail] of [
        [{ action: 'undo', correction: '1' }, /^correction: retention has removed rows that 1 has changed/],
        [{ action: 'undo', correction: '2' }, /^correction: retention has removed/],
        [{ action: 'withdraw', ids: [queries[0]?.id] }, /no query "id 0", or retention has removed it/],
      ] as const)
        await expect(
          other.corrections.accept('p', requestOf({ id: 'x', ...fields }), by),
        ).rejects.toMatchObject({ code: 'invalid', details: [expect.stringMatching(detail)] });
      // All that it removed had been withdrawn.
      await correct(other, { id: '3', action: 'withdraw', caller: 'api' });
      await retainAll(store, now + 3 * dayMs);
      const filter = requestOf({ id: '4', action: 'withdraw', caller: 'slack' });
      await expect(store.corrections.accept('p', filter, by)).rejects.toMatchObject({
        details: [
          expect.stringMatching(
            /^dateFrom: retention has removed the rows of queries from before 2026-06-17T/,
          ),
        ],
      });
      await expectSound(store);
    });

    test('of a query whose row retention has removed are not those of another with its id', async () => {
      const { store, other } = await openTwo();
      const ids = ['id 0', 'id 2'];
      await correct(store, { id: '1', action: 'rename', ids, to: 'zed' });
      const known = [{ day, caller: 'web', isWithdrawn: false, isCorrected: false }];
      const changes = ids.map((id) => ({ id, changes: [], known, caller: 'zed' }));
      await store.corrections.restoreChanges('p', changes);
      const tellOf = async () =>
        (await other.counts.readQueries('p', undefined, 100))
          .filter(({ id }) => ids.includes(id))
          .map(({ corrected }) => corrected);
      expect(await tellOf()).toMatchObject(ids.map(() => ({ changes: [{ correction: 1 }], known })));
      await store.directory.changeProject(org, 'p', { retentionDays: 1 }, by);
      await retainAll(store, now + 3 * dayMs, 3);
      const again = ids.map((id) => ({ id, caller: 'api', occurredAt: now + 3 * dayMs }));
      expect(await other.counts.record('p', again)).toEqual({ recorded: 2, duplicates: 0 });
      expect(await tellOf()).toEqual([undefined, undefined]);
      const past = { from: now + 2 * dayMs, to: now + 4 * dayMs, atMs: today, spanMs: dayMs };
      const { queries } = await store.history.readPast('p', past, null);
      expect(queries).toMatchObject([{ caller: 'api', queries: 2, corrections: [], known: [] }]);
      await expectSound(store);
    });

    test('end a page of queries early if there are many of them', async () => {
      const { store, other } = await openTwo();
      const sent = (await other.counts.readQueries('p', undefined, 100)).map(({ id }) => id);
      const renames = Math.ceil((1.5 * pageCorrectionsMax) / sent.length);
      for (let at = 1; at <= renames; at++)
        await correct(store, { id: `${at}`, action: 'rename', ids: sent, to: `to-${at}` }, 100);
      const most = pageCorrectionsMax + renames;
      const read: string[] = [];
      for await (const page of pagesOf<RecordedQuery>((after) =>
        other.counts.readQueries('p', after?.id, 100),
      )) {
        read.push(...page.map(({ id }) => id));
        const changes = page.map(({ corrected }) => corrected?.changes.length ?? 0);
        expect(changes).toEqual(page.map(() => renames));
        expect(renames * page.length).toBeLessThanOrEqual(most);
      }
      expect(read).toEqual(sent);
      const looked: number[] = [];
      for (const queries of await pastPages(other, { ...ALL_TIME, atMs: today, spanMs: dayMs })) {
        looked.push(queries.length);
        expect(queries.flatMap(({ corrections }) => corrections).length).toBeLessThanOrEqual(most);
      }
      expect(looked.reduce((one, next) => one + next)).toBe(sent.length);
    });

    test('end a page of imported counts early if they were withdrawn often', async () => {
      const { store, other } = await openTwo();
      const counts = Array.from({ length: 300 }, (_, at) => ({
        ...{ source: at < 200 ? 'old' : 'new', caller: at % 2 === 0 ? 'web' : 'slack' },
        ...{ start: today + at, end: today + at + 1, count: 1 },
      }));
      await store.counts.importCounts('p', counts);
      const times = Math.ceil((1.5 * pageCorrectionsMax) / 200);
      for (let at = 1; at <= times; at++) {
        await correct(store, { id: `${at}`, action: 'withdraw', source: 'old' }, 1_000);
        await correct(store, { id: `u${at}`, action: 'undo', correction: `${at}` }, 1_000);
      }
      const most = pageCorrectionsMax + times;
      const starts: number[] = [];
      const readAfter = (after: RecordedCount | undefined) =>
        other.counts.readImportedCounts('p', after, 1_000);
      for await (const page of pagesOf(readAfter)) {
        const withdrawals = page.map((one) => one.withdrawals?.length ?? 0);
        expect(withdrawals).toEqual(page.map(({ source }) => (source === 'old' ? times : 0)));
        expect(withdrawals.reduce((sum, one) => sum + one)).toBeLessThanOrEqual(most);
        starts.push(...page.map(({ start }) => start));
      }
      expect(starts.toSorted((a, b) => a - b)).toEqual(counts.map(({ start }) => start));
      const seen: number[] = [];
      const range = { from: today + 50, to: today + 250, atMs: today + dayMs, spanMs: dayMs };
      for (const queries of await pastPages(other, range)) {
        expect(queries.flatMap(({ corrections }) => corrections).length).toBeLessThanOrEqual(most);
        seen.push(...queries.map(({ first }) => first));
      }
      expect(seen.toSorted((a, b) => a - b)).toEqual(counts.slice(50, 250).map(({ start }) => start));
    });
  });
}
