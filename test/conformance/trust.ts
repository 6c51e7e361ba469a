import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/project.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { by, intact, keyOf, type PlaceFactory, projectOf } from '../support/storage/store.js';

export function describeTrust(kind: string, factory: PlaceFactory): void {
  describe(`${kind}: opening and closing`, () => {
    test('a closed store refuses every call and can be closed again', async () => {
      const store = await (await factory()).open();
      await store.createProject(projectOf('p'), by);
      await store.close();
      await store.close();
      const attempts = [
        () => store.count('p', ALL_TIME),
        () => store.countSeries('p', [0, 1]),
        () => store.countCallers('p', ALL_TIME),
        () => store.findExtent('p'),
        () => store.record('p', [{ id: 'a', caller: 'web', occurredAt: 1 }]),
        () => store.findProject(DEFAULT_ORGANIZATION_ID, 'p'),
        () => store.findAccess('x', 'p'),
        () => store.createKey(keyOf('k'), by),
        () => store.changeKey(DEFAULT_ORGANIZATION_ID, 'k', 'revoke', by),
        () => store.listMembers(DEFAULT_ORGANIZATION_ID),
        () => store.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 1 }),
        () => store.pruneAudit(1, 1),
        () => store.listMemberships('a@example.org'),
        () => store.isSetUpOpen(),
        () => store.keepSecret('s', 'x'),
        () => store.findSecret('s'),
        () => store.removeSecret('s'),
        () => store.userTables.run({ sql: 'SELECT 1', parameters: [] }),
        () => store.userTables.run({ sql: 'DELETE FROM user_account', parameters: [] }),
        () => store.check(),
        () => store.verify(),
      ];
      for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject({ code: 'unavailable' });
    });

    test('closing finishes accepted recordings and changes, in order', async () => {
      const { open } = await factory();
      const store = await open();
      await store.createProject(projectOf('p'), by);
      const accepted = Array.from({ length: 50 }, (_, at) =>
        store.record('p', [{ id: `query ${at}`, caller: 'web', occurredAt: at }]),
      );
      const created = ['a', 'b', 'c', 'd'].map((id) => store.createProject(projectOf(id), by));
      await store.close();
      expect(await Promise.all(accepted)).toEqual(accepted.map(() => ({ recorded: 1, duplicates: 0 })));
      await Promise.all(created);
      const reopened = await open();
      expect((await reopened.count('p', ALL_TIME)).total).toBe(50);
      const projects = await reopened.listProjects(DEFAULT_ORGANIZATION_ID);
      expect(projects.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd', 'p']);
    });

    test('a reopened store has all data and recognizes every id', async () => {
      const { open } = await factory();
      const before = await open();
      await before.createProject(projectOf('p'), by);
      await before.createKey(keyOf('k'), by);
      await before.record('p', [{ id: 'a', caller: 'web', occurredAt: -5 }]);
      await before.close();
      const after = await open();
      expect(await after.listProjects(DEFAULT_ORGANIZATION_ID)).toEqual([projectOf('p')]);
      expect(await after.findAccess('hash of k', 'p')).toEqual({ key: keyOf('k'), project: projectOf('p') });
      expect(await after.record('p', [{ id: 'a', caller: 'api', occurredAt: 5 }])).toEqual({
        recorded: 0,
        duplicates: 1,
      });
      expect(await after.count('p', { from: -5, to: -4 })).toMatchObject({ web: 1, total: 1 });
    });

    test('several handles can open a new store concurrently', async () => {
      const { open } = await factory();
      const handles = await Promise.all(Array.from({ length: 4 }, () => open()));
      await Promise.all(
        handles.map((handle, at) => handle.createProject(projectOf(`p${at}`, { createdAt: at }), by)),
      );
      for (const handle of handles) {
        await handle.check();
        expect((await handle.listProjects(DEFAULT_ORGANIZATION_ID)).map(({ id }) => id)).toEqual([
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
      await store.createProject(projectOf('p'), by);
      await store.createProject(projectOf('q'), by);
      await store.record('p', [
        { id: 'a', caller: 'web', occurredAt: -1 },
        { id: 'b', caller: 'zed', occurredAt: dayMs },
      ]);
      expect(await store.verify()).toEqual(intact(2, 2));
    });
  });
}
