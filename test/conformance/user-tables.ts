import { describe, expect, test } from 'vitest';
import { ALL_TIME } from '../../src/domain/counting/date-range.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { UserSummary } from '../../src/storage/ports/directory.js';
import { by, keyOf, type PlaceFactory, projectOf } from '../support/storage/store.js';
import { addUser, memberOf, runOnUsers } from '../support/users/people.js';

const org = DEFAULT_ORGANIZATION_ID;
const [ada, bob] = ['ada@example.org', 'bob@example.org'] as const;
const names = (users: ReadonlyMap<string, UserSummary>) =>
  [...users].map(([email, { name }]) => [email, name]).toSorted();
const taken = { code: 'already_exists' };

export function describeUserTables(kind: string, factory: PlaceFactory): void {
  const openNew = async () => (await factory()).open();

  describe(`${kind}: user tables`, () => {
    test('refuse a row that violates a unique key and do not change', async () => {
      const store = await openNew();
      await addUser(store, ada, { name: 'Ada' });
      await addUser(store, bob, { name: 'Bob' });
      await expect(addUser(store, ada, { name: 'Another' })).rejects.toMatchObject(taken);
      const move = 'UPDATE {user_account} SET email = ? WHERE email = ?';
      await expect(runOnUsers(store, move, [ada, bob])).rejects.toMatchObject(taken);
      expect(names(await store.directory.findUsers([ada, bob]))).toEqual([
        [ada, 'Ada'],
        [bob, 'Bob'],
      ]);
    });

    test('refuse it without affecting concurrent operations', async () => {
      const store = await openNew();
      await store.directory.createProject(projectOf('p'), by);
      await addUser(store, ada);
      const all = await Promise.allSettled(
        Array.from({ length: 20 }, (_, at) => [
          store.counts.record('p', [{ id: `query ${at}`, caller: 'web', occurredAt: at }]),
          addUser(store, ada),
          store.directory.createKey(keyOf(`k${at}`), by),
          addUser(store, `user${at}@example.org`),
          store.directory.touchKey(`k${at}`, 2000),
        ]).flat(),
      );
      const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(refused).toHaveLength(20);
      for (const error of refused) expect(error).toMatchObject(taken);
      expect((await store.counts.count('p', ALL_TIME)).total).toBe(20);
      expect(await store.directory.listKeys(org)).toHaveLength(20);
      const { rows } = await runOnUsers(store, 'SELECT count(*) AS users FROM {user_account}');
      expect(Number(rows[0]?.['users'])).toBe(21);
      expect(await store.maintenance.verify()).toMatchObject({ damage: [], differencesTotal: 0 });
    });

    test('return rows and the number of changes', async () => {
      const store = await openNew();
      for (const email of [ada, bob]) await addUser(store, email, { name: 'Somebody' });
      const columns = 'SELECT id, name, email, image FROM {user_account} WHERE email = ?';
      expect(await runOnUsers(store, columns, [ada])).toEqual({
        rows: [{ id: `id of ${ada}`, name: 'Somebody', email: ada, image: null }],
        changes: 0,
      });
      expect(await runOnUsers(store, columns, ['nobody@example.org'])).toEqual({ rows: [], changes: 0 });
      const rename = 'UPDATE {user_account} SET name = ? WHERE name = ?';
      expect(await runOnUsers(store, rename, ['Ann', 'Nobody'])).toEqual({ rows: [], changes: 0 });
      expect(await runOnUsers(store, rename, ['Ann', 'Somebody'])).toEqual({ rows: [], changes: 2 });
      const returning = `${rename.replace('= ? WHERE', "= ? || '!' WHERE")} AND email = ? RETURNING name, email`;
      expect(await runOnUsers(store, returning, ['Ada', 'Ann', ada])).toEqual({
        rows: [{ name: 'Ada!', email: ada }],
        changes: 1,
      });
      expect(await runOnUsers(store, 'DELETE FROM {user_account} WHERE email = ?', [bob])).toEqual({
        rows: [],
        changes: 1,
      });
      expect(names(await store.directory.findUsers([ada, bob]))).toEqual([[ada, 'Ada!']]);
    });

    test("lose a user's rows together with the user", async () => {
      const store = await openNew();
      await addUser(store, ada);
      const time = '2026-01-01T00:00:00.000Z';
      await runOnUsers(
        store,
        `INSERT INTO {user_session} (id, token, user_id, expires_at, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?)`,
        ['s', 'token', `id of ${ada}`, time, time, time],
      );
      await runOnUsers(store, 'DELETE FROM {user_account} WHERE email = ?', [ada]);
      expect((await runOnUsers(store, 'SELECT id FROM {user_session}')).rows).toEqual([]);
    });
  });

  describe(`${kind}: changes by users themselves`, () => {
    test('are logged for every organization of the user and no other', async () => {
      const store = await openNew();
      for (const id of ['rival', 'acme'])
        await store.directory.createOrganization({ id, name: id, createdAt: 500 }, by);
      await store.directory.addMember(memberOf(ada), by);
      await store.directory.addMember(memberOf(ada, { organizationId: 'rival', role: 'owner' }), by);
      await store.directory.addMember(memberOf(bob, { organizationId: 'acme' }), by);
      const change = { action: 'user.second_factor', detail: 'on' } as const;
      await store.directory.logUserChange(ada, change, { name: ada, address: '192.0.2.7', at: 7000 });
      await store.directory.logUserChange('nobody@example.org', change, by);
      for (const organizationId of [org, 'rival']) {
        const [entry, before] = await store.directory.readAudit(organizationId, { limit: 2 });
        expect(entry).toEqual({
          number: expect.any(Number),
          at: 7000,
          actor: ada,
          address: '192.0.2.7',
          action: 'user.second_factor',
          targetId: ada,
          detail: 'on',
        });
        expect(before).toMatchObject({ action: 'member.add' });
      }
      expect((await store.directory.readAudit('acme', { limit: 1 }))[0]).toMatchObject({
        action: 'member.add',
      });
    });
  });

  describe(`${kind}: a server secret`, () => {
    test('is the first proposal for its name, on every handle, until it is removed', async () => {
      const { open } = await factory();
      const handles = [await open(), await open()];
      const kept = await Promise.all(
        Array.from({ length: 8 }, (_, at) => handles[at % 2]?.directory.keepSecret('s', `proposal ${at}`)),
      );
      expect(new Set(kept).size).toBe(1);
      expect(kept[0]).toMatch(/^proposal \d$/);
      expect(await handles[0]?.directory.keepSecret('other', 'mine')).toBe('mine');
      for (const handle of handles) await handle.close();
      const [one, other] = [await open(), await open()];
      expect(await one.directory.keepSecret('s', 'too late')).toBe(kept[0]);
      expect([await one.directory.findSecret('s'), await one.directory.findSecret('third')]).toEqual([
        kept[0],
        undefined,
      ]);
      for (const _time of [1, 2]) await one.directory.removeSecret('s');
      expect([await other.directory.findSecret('s'), await other.directory.findSecret('other')]).toEqual([
        undefined,
        'mine',
      ]);
    });
  });
}
