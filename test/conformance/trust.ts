import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { by, intact, keyOf, type PlaceFactory, projectOf } from '../support/storage/store.js';

export function describeTrust(kind: string, factory: PlaceFactory): void {
  describe(`${kind}: opening and closing`, () => {
    test('a closed store refuses every call and can be closed again', async () => {
      const store = await (await factory()).open();
      await store.directory.createProject(projectOf('p'), by);
      await store.close();
      await store.close();
      const attempts = [
        () => store.counts.count('p', ALL_TIME),
        () => store.counts.countSeries('p', [0, 1]),
        () => store.counts.countCallers('p', ALL_TIME),
        () => store.counts.findExtent('p'),
        () => store.counts.record('p', [{ id: 'a', caller: 'web', occurredAt: 1 }]),
        () => store.directory.findProject(DEFAULT_ORGANIZATION_ID, 'p'),
        () => store.directory.findAccess('x', 'p'),
        () => store.directory.createKey(keyOf('k'), by),
        () => store.directory.changeKey(DEFAULT_ORGANIZATION_ID, 'k', 'revoke', by),
        () => store.directory.listMembers(DEFAULT_ORGANIZATION_ID),
        () => store.directory.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 1 }),
        () => store.directory.pruneAudit(1, 1),
        () => store.directory.listMemberships('a@example.org'),
        () => store.directory.isSetUpOpen(),
        () => store.directory.keepSecret('s', 'x'),
        () => store.directory.findSecret('s'),
        () => store.directory.removeSecret('s'),
        () => store.users.run({ sql: 'SELECT 1', parameters: [] }),
        () => store.users.run({ sql: 'DELETE FROM user_account', parameters: [] }),
        () => store.maintenance.check(),
        () => store.maintenance.verify(),
      ];
      for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'unavailable' });
    });

    test('closing finishes accepted recordings and changes, in order', async () => {
      const { open } = await factory();
      const store = await open();
      await store.directory.createProject(projectOf('p'), by);
      const accepted = Array.from({ length: 50 }, (_, at) =>
        store.counts.record('p', [{ id: `query ${at}`, caller: 'web', occurredAt: at }]),
      );
      const created = ['a', 'b', 'c', 'd'].map((id) => store.directory.createProject(projectOf(id), by));
      await store.close();
      const other = await open();
      const later = Array.from({ length: 50 }, (_, at) =>
        other.counts.record('p', [{ id: `query ${at}`, caller: 'web', occurredAt: at }]),
      );
      // Nothing but recordings keeps it open.
      await other.close();
      expect(await Promise.all(later)).toEqual(later.map(() => ({ recorded: 0, duplicates: 1 })));
      expect(await Promise.all(accepted)).toEqual(accepted.map(() => ({ recorded: 1, duplicates: 0 })));
      await Promise.all(created);
      const reopened = await open();
      expect((await reopened.counts.count('p', ALL_TIME)).total).toBe(50);
      const projects = await reopened.directory.listProjects(DEFAULT_ORGANIZATION_ID);
      expect(projects.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'p']);
    });

    test('a reopened store has all data and recognizes every id', async () => {
      const { open } = await factory();
      const before = await open();
      await before.directory.createProject(projectOf('p'), by);
      await before.directory.createKey(keyOf('k'), by);
      await before.counts.record('p', [{ id: 'a', caller: 'web', occurredAt: -5 }]);
      await before.close();
      const after = await open();
      expect(await after.directory.listProjects(DEFAULT_ORGANIZATION_ID)).toEqual([projectOf('p')]);
      const found = await after.directory.findAccess('hash of k', 'p');
      expect(found).toEqual({ ...found, key: keyOf('k'), project: projectOf('p') });
      expect(await after.counts.record('p', [{ id: 'a', caller: 'api', occurredAt: 5 }])).toEqual({
        recorded: 0,
        duplicates: 1,
      });
      expect(await after.counts.count('p', { from: -5, to: -4 })).toMatchObject({ web: 1, total: 1 });
    });

    test('several handles can open a new store concurrently', async () => {
      const { open } = await factory();
      const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
      await Promise.all(
        handles.map((handle, at) =>
          handle.directory.createProject(projectOf(`p${at}`, { createdAt: at }), by),
        ),
      );
      for (const handle of handles) {
        await handle.maintenance.check();
        expect((await handle.directory.listProjects(DEFAULT_ORGANIZATION_ID)).map(({ id }) => id)).toEqual([
          'p0',
          'p1',
          'p2',
          'p3',
        ]);
      }
    });
  });

  describe(`${kind}: verification`, () => {
    test('finds nothing in an intact store and reports how much it checked', async () => {
      const store = await (await factory()).open();
      await store.directory.createProject(projectOf('p'), by);
      await store.directory.createProject(projectOf('q'), by);
      await store.counts.record('p', [
        { id: 'a', caller: 'web', occurredAt: -1 },
        { id: 'b', caller: 'zed', occurredAt: dayMs },
      ]);
      expect(await store.maintenance.verify()).toEqual(intact(2, 2));
    });
  });
}
