import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { Query } from '../../src/domain/queries/query.js';
import type { Store } from '../../src/storage/ports/store.js';
import { knownEvent, recount } from '../support/storage/ledger.js';
import { by, intact, keyOf, type PlaceFactory, projectOf, purgeAll } from '../support/storage/store.js';
import { isDeep } from '../support/volume.js';

const lives = isDeep ? 3 : 2;
const rounds = isDeep ? 20 : 8;

const org = DEFAULT_ORGANIZATION_ID;
const rival = { id: 'rival', name: 'Rival', createdAt: 500 };
const none = { web: 0, api: 0, other: 0, total: 0 };

const recordingKeyOf = (id: string, projectId: string) =>
  keyOf(id, { type: 'recording', projectId, scopes: ['write'] });

function events(count: number): Query[] {
  return Array.from({ length: count }, (_, number) => knownEvent(number));
}

/** Deletes a project from both handles while both record into it and make keys for it. */
async function deleteAmidst(id: string, handles: readonly [Store, Store]): Promise<void> {
  const [store, other] = handles;
  await store.directory.createProject(projectOf(id), by);
  const met = handles.flatMap((handle, at) => [
    ...[0, 1, 2, 3].map((part) => handle.counts.record(id, events(40).slice(part + at, part + 20))),
    handle.directory.createKey(recordingKeyOf(`${id}-${at}`, id), by),
  ]);
  const deletions = handles.map((handle) => handle.directory.deleteProject(org, id, by));
  const ended = await Promise.allSettled<unknown>([...deletions, ...met]);
  const deleted = ended.slice(0, deletions.length).filter(({ status }) => status === 'fulfilled');
  expect(deleted).toHaveLength(1);
  for (const one of ended) {
    if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'not_found' });
  }
  expect(await store.counts.count(id, ALL_TIME)).toEqual(none);
  expect(await other.directory.listKeys(org)).toEqual([]);
  await purgeAll(other);
}

export function describeProjects(kind: string, factory: PlaceFactory): void {
  const openNew = async () => (await factory()).open();

  describe(`${kind}: changing an organization`, () => {
    test('refuses an unknown one, is seen by every handle, and is logged once', async () => {
      const { open } = await factory();
      const [store, other] = [await open(), await open()];
      await store.directory.createOrganization(rival, by);
      await expect(store.directory.changeOrganization('none', { name: 'Acme' }, by)).rejects.toMatchObject({
        code: 'not_found',
      });
      const changed = { ...rival, name: 'Rival 📚', secondFactor: 'required' } as const;
      for (const handle of [store, other])
        expect(
          await handle.directory.changeOrganization(
            'rival',
            { name: changed.name, secondFactor: 'required' },
            by,
          ),
        ).toEqual(changed);
      expect(await other.directory.changeOrganization('rival', {}, by)).toEqual(changed);
      for (const handle of [store, other])
        expect(await handle.directory.listOrganizations()).toEqual([
          expect.objectContaining({ id: org, secondFactor: 'optional' }),
          changed,
        ]);
      expect(
        await store.directory.readAudit('rival', { action: 'organization.change', limit: 10 }),
      ).toMatchObject([{ targetId: 'rival', detail: 'name: Rival, now Rival 📚; second factor: required' }]);
    });
  });

  describe(`${kind}: changing a project`, () => {
    test('refuses a project of another organization and changes nothing', async () => {
      const store = await openNew();
      await store.directory.createOrganization(rival, by);
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
      for (const id of ['none', 'theirs']) {
        await expect(store.directory.changeProject(org, id, { name: 'Mine' }, by)).rejects.toMatchObject({
          code: 'not_found',
        });
      }
      expect(await store.directory.listProjects('rival')).toEqual([
        projectOf('theirs', { organizationId: 'rival' }),
      ]);
      expect(await store.directory.readAudit('rival', { action: 'project.change', limit: 10 })).toEqual([]);
    });

    test('returns what every handle sees and preserves omitted fields', async () => {
      const { open } = await factory();
      const [store, other] = [await open(), await open()];
      await store.directory.createProject(projectOf('p', { timeZone: 'Asia/Kathmandu' }), by);
      await store.directory.createProject(projectOf('q', { retentionDays: 7, otlpId: 'span' }), by);
      await store.directory.createKey(keyOf('k'), by);
      await other.directory.findAccess('hash of k', 'p');
      const steps = [
        { name: 'Handbook 📚' },
        { timeZone: 'Europe/Berlin', retentionDays: 30 },
        { weekStart: 'sunday' },
        { retentionDays: null },
        { otlpQuery: 'default;http.route=/ask', otlpId: 'trace', otlpSiteOrigins: 'none' },
        { otlpCaller: 'who', otlpDefaultCaller: 'slack', otlpId: null },
        { name: 'p', timeZone: null, weekStart: null },
        { otlpQuery: 'a=\'b\' \\ "ü" 📚', otlpCaller: null },
        {},
      ] as const;
      let expected: ReturnType<typeof projectOf> = projectOf('p', { timeZone: 'Asia/Kathmandu' });
      for (const change of steps) {
        expected = { ...expected, ...change };
        expect(await store.directory.changeProject(org, 'p', change, by)).toEqual(expected);
        expect(await other.directory.findProject(org, 'p')).toEqual(expected);
        expect((await other.directory.findAccess('hash of k', 'p'))?.project).toEqual(expected);
      }
      expect(await other.directory.listProjects(org)).toEqual([
        expected,
        projectOf('q', { retentionDays: 7, otlpId: 'span' }),
      ]);
    });

    test('describes each effective change in the audit log', async () => {
      const store = await openNew();
      await store.directory.createProject(projectOf('p', { name: 'Docs' }), by);
      await store.directory.changeProject(
        org,
        'p',
        { name: 'Docs', timeZone: null, retentionDays: null },
        by,
      );
      await store.directory.changeProject(org, 'p', { name: 'Handbook', timeZone: 'Europe/Berlin' }, by);
      await store.directory.changeProject(org, 'p', { name: 'Handbook', retentionDays: 30 }, by);
      await store.directory.changeProject(org, 'p', { timeZone: null, retentionDays: 30 }, by);
      await store.directory.changeProject(
        org,
        'p',
        { otlpQuery: 'a;default', otlpSiteOrigins: 'none', otlpId: null },
        by,
      );
      await store.directory.changeProject(org, 'p', { otlpQuery: null, otlpSiteOrigins: 'none' }, by);
      const entries = await store.directory.readAudit(org, { limit: 10 });
      expect(entries.map(({ action, targetId, detail }) => [action, targetId, detail])).toEqual([
        ['project.change', 'p', "OpenTelemetry rules: a;default, now the server's"],
        [
          'project.change',
          'p',
          "OpenTelemetry rules: the server's, now a;default; OpenTelemetry site origins: the server's, now none",
        ],
        ['project.change', 'p', 'time zone: Europe/Berlin, now none'],
        ['project.change', 'p', 'retention in days: none, now 30'],
        ['project.change', 'p', 'name: Docs, now Handbook; time zone: none, now Europe/Berlin'],
        ['project.create', 'p', 'Docs'],
      ]);
    });
  });

  describe(`${kind}: deleting a project`, () => {
    test('refuses a project of another organization and deletes nothing', async () => {
      const store = await openNew();
      await store.directory.createOrganization(rival, by);
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
      await store.directory.createKey({ ...recordingKeyOf('k', 'theirs'), organizationId: 'rival' }, by);
      for (const id of ['none', 'theirs']) {
        await expect(store.directory.deleteProject(org, id, by)).rejects.toMatchObject({ code: 'not_found' });
      }
      expect(await store.directory.listProjects('rival')).toHaveLength(1);
      expect(await store.directory.listKeys('rival')).toHaveLength(1);
      expect(await store.maintenance.purgeDeleted(10)).toEqual({ removed: 0, done: true });
    });

    test('hides the project from every method and handle, before and after the purge', async () => {
      const { open } = await factory();
      const [store, other] = [await open(), await open()];
      await store.directory.createProject(projectOf('p', { name: 'Docs' }), by);
      await store.directory.createProject(projectOf('q'), by);
      await store.directory.createKey(keyOf('admin'), by);
      await store.directory.createKey(recordingKeyOf('of p', 'p'), by);
      await store.directory.createKey(recordingKeyOf('of q', 'q'), by);
      await store.counts.record('p', events(30));
      await store.counts.record('q', events(40));
      await other.directory.findAccess('hash of of p', 'p');
      await store.directory.deleteProject(org, 'p', { ...by, name: 'ada' });
      for (const purge of [async () => undefined, () => purgeAll(other)]) {
        await purge();
        expect(await other.directory.listProjects(org)).toEqual([projectOf('q')]);
        expect(await other.directory.findProject(org, 'p')).toBeUndefined();
        expect(await other.directory.findAccess('hash of of p', 'p')).toBeUndefined();
        const found = await other.directory.findAccess('hash of admin', 'p');
        expect(found).toEqual({ ...found, key: keyOf('admin'), project: undefined });
        expect((await other.directory.listKeys(org)).map(({ id }) => id)).toEqual(['admin', 'of q']);
        expect(await other.counts.count('p', ALL_TIME)).toEqual(none);
        expect(await other.counts.countSeries('p', [0, 10, ALL_TIME.to])).toEqual([none, none]);
        expect(await other.counts.countCallers('p', ALL_TIME)).toEqual({ total: 0, callers: [] });
        expect(await other.counts.findExtent('p')).toBeUndefined();
        expect(await other.counts.readQueries('p', undefined, 10)).toEqual([]);
        const gone = { code: 'not_found' };
        await expect(other.counts.record('p', events(3))).rejects.toMatchObject(gone);
        await expect(other.directory.createKey(recordingKeyOf('new', 'p'), by)).rejects.toMatchObject(gone);
        await expect(other.directory.changeProject(org, 'p', { name: 'x' }, by)).rejects.toMatchObject(gone);
        await expect(other.directory.deleteProject(org, 'p', by)).rejects.toMatchObject(gone);
        expect(await other.counts.count('q', ALL_TIME)).toEqual(recount(events(40), ALL_TIME));
        expect(await other.maintenance.verify()).toEqual(intact(1, 40));
      }
      const [entry] = await store.directory.readAudit(org, { limit: 1 });
      expect(entry).toMatchObject({
        actor: 'ada',
        action: 'project.delete',
        targetId: 'p',
        detail: 'Docs',
      });
    });

    test('is completed in bounded steps by any number of handles', async () => {
      const { open } = await factory();
      const handles = [await open(), await open(), await open()];
      const [store] = handles;
      if (store === undefined) throw new Error('there is no handle');
      await store.directory.createProject(projectOf('p'), by);
      await store.directory.createProject(projectOf('q'), by);
      await store.directory.createProject(projectOf('kept'), by);
      for (const id of ['p', 'q', 'kept']) await store.counts.record(id, events(50));
      await store.directory.deleteProject(org, 'p', by);
      await store.directory.deleteProject(org, 'q', by);
      let removed = 0;
      for (let done = false; !done; ) {
        const pieces = await Promise.all(handles.map((handle) => handle.maintenance.purgeDeleted(7)));
        for (const piece of pieces) {
          expect(piece.removed).toBeLessThanOrEqual(7);
          removed += piece.removed;
        }
        done = pieces.some((piece) => piece.done);
      }
      expect(await store.maintenance.purgeDeleted(7)).toEqual({ removed: 0, done: true });
      // The queries, and as many counters of the narrowest width at least.
      expect(removed).toBeGreaterThanOrEqual(2 * (50 + 6));
      expect(await store.counts.count('kept', ALL_TIME)).toEqual(recount(events(50), ALL_TIME));
      expect(await store.maintenance.verify()).toMatchObject({
        projects: 1,
        queries: 50,
        differencesTotal: 0,
      });
    });

    test('leaves nothing to a new project with the same id', async () => {
      const { open } = await factory();
      const [store, other] = [await open(), await open()];
      await store.directory.createProject(projectOf('p'), by);
      await store.counts.record('p', events(20));
      for (let life = 1; life <= lives; life++) {
        await store.directory.deleteProject(org, 'p', by);
        const again = projectOf('p', { name: `life ${life}`, createdAt: 2000 + life });
        // A store may want the purge to be finished first.
        for (let made = false; !made; ) {
          made = await other.directory.createProject(again, by).then(
            () => true,
            (error) => {
              expect(error).toMatchObject({ code: 'already_exists' });
              return false;
            },
          );
          await store.maintenance.purgeDeleted(3);
        }
        expect(await other.directory.findProject(org, 'p')).toEqual(again);
        expect(await store.counts.count('p', ALL_TIME)).toEqual(none);
        expect(await store.counts.readQueries('p', undefined, 10)).toEqual([]);
        const some = events(20).slice(life);
        expect(await store.counts.record('p', some)).toEqual({ recorded: some.length, duplicates: 0 });
        await purgeAll(other);
        expect(await other.counts.count('p', ALL_TIME)).toEqual(recount(some, ALL_TIME));
        expect(await other.maintenance.verify()).toMatchObject({ queries: some.length, differencesTotal: 0 });
      }
    });

    test('leaves nothing of concurrent recordings, keys and deletions', async () => {
      const { open } = await factory();
      const handles = [await open(), await open()];
      const [store, other] = handles;
      if (store === undefined || other === undefined) throw new Error('there is no handle');
      for (let round = 0; round < rounds; round++) await deleteAmidst(`p${round}`, [store, other]);
      expect(await store.maintenance.verify()).toEqual(intact(0, 0));
    });
  });
}
