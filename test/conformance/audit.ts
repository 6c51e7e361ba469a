import { describe, expect, test } from 'vitest';
import type { Actor, AuditEntry, AuditFilter } from '../../src/domain/people/audit.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import type { Store } from '../../src/storage/ports/store.js';
import { keyOf, type PlaceFactory, projectOf } from '../support/storage/store.js';
import { rightsOf } from '../support/users/people.js';

const org = DEFAULT_ORGANIZATION_ID;
const all = { limit: 100 };
const ada = {
  organizationId: org,
  email: 'ada@example.org',
  role: 'viewer',
  projects: [],
  createdAt: 1,
} as const;

/** A different actor for each change, so that none can be taken for another's. */
function actorAt(at: number): Actor {
  return { name: `actor ${at}`, address: at % 2 === 0 ? null : `192.0.2.${at}`, at };
}

/** Every change there is, in order: what makes it, and what is to be read of it. */
const changes: readonly (readonly [
  change: (store: Store, by: Actor) => Promise<unknown>,
  action: string,
  targetId: string,
  detail: string,
])[] = [
  [
    (store, by) => store.directory.createProject(projectOf('p', { name: 'Ä 📚' }), by),
    'project.create',
    'p',
    'Ä 📚',
  ],
  [
    (store, by) => store.directory.changeProject(org, 'p', { name: 'Docs' }, by),
    'project.change',
    'p',
    'name: Ä 📚, now Docs',
  ],
  [(store, by) => store.directory.deleteProject(org, 'p', by), 'project.delete', 'p', 'Docs'],
  [(store, by) => store.directory.createKey(keyOf('k'), by), 'key.create', 'k', 'key k'],
  [(store, by) => store.directory.createKey(keyOf('l'), by), 'key.create', 'l', 'key l'],
  [(store, by) => store.directory.changeKey(org, 'k', 'disable', by), 'key.disable', 'k', 'key k'],
  [(store, by) => store.directory.changeKey(org, 'k', 'enable', by), 'key.enable', 'k', 'key k'],
  [
    (store, by) => store.directory.rotateKey(org, 'k', keyOf('m'), 50, by),
    'key.rotate',
    'k',
    'key k, succeeded by m',
  ],
  [(store, by) => store.directory.changeKey(org, 'k', 'revoke', by), 'key.revoke', 'k', 'key k'],
  [(store, by) => store.directory.addMember(ada, by), 'member.add', ada.email, 'viewer'],
  [
    (store, by) => store.directory.changeMember(org, ada.email, rightsOf('editor'), by),
    'member.change',
    ada.email,
    'editor',
  ],
  [(store, by) => store.directory.removeMember(org, ada.email, by), 'member.remove', ada.email, ''],
];

/** A value that a filter asks for, or that it does not ask for that field. */
const orNone = <Name extends string, Value>(name: Name, values: readonly Value[]) => [
  {},
  ...values.map((value) => ({ [name]: value }) as Record<Name, Value>),
];

/** Filters by all that there is to filter by, together, with values that fit, that nearly fit, and that do not. */
const auditFilters: readonly Omit<AuditFilter, 'limit'>[] = orNone('actor', [
  'actor 0',
  'actor 1',
  'actor',
  'actor 77',
  '',
]).flatMap((actor) =>
  orNone('action', ['project.create', 'project.change', 'key.create'] as const).flatMap((action) =>
    orNone('targetId', ['p', 'P', 'p%', '%', '']).flatMap((targetId) =>
      orNone('to', [1]).map((to) => ({ ...actor, ...action, ...targetId, ...to })),
    ),
  ),
);

export function describeAudit(kind: string, factory: PlaceFactory): void {
  const openNew = async () => (await factory()).open();

  describe(`${kind}: the audit log`, () => {
    test('has no entry for a refused change or one without effect', async () => {
      const store = await openNew();
      const by = actorAt(1);
      await store.directory.createProject(projectOf('p'), by);
      await store.directory.createKey(keyOf('k', { disabledAt: 5 }), by);
      await store.directory.createKey(keyOf('revoked', { revokedAt: 5, disabledAt: 5 }), by);
      await store.directory.addMember(ada, by);
      const before = await store.directory.readAudit(org, all);
      expect(before).toHaveLength(4);
      const keys = await store.directory.listKeys(org);
      const refused: readonly (() => Promise<unknown>)[] = [
        () => store.directory.createOrganization({ id: org, name: 'again', createdAt: 1 }, by),
        () => store.directory.createProject(projectOf('p'), by),
        () => store.directory.changeProject(org, 'none', { name: 'x' }, by),
        () => store.directory.deleteProject(org, 'none', by),
        () => store.directory.createKey(keyOf('k'), by),
        () => store.directory.createKey(keyOf('m', { type: 'recording', projectId: 'none' }), by),
        () => store.directory.changeKey(org, 'none', 'disable', by),
        () => store.directory.rotateKey(org, 'none', keyOf('m'), 9, by),
        () => store.directory.rotateKey(org, 'revoked', keyOf('m'), 9, by),
        () => store.directory.rotateKey(org, 'k', keyOf('m', { hash: 'hash of k' }), 9, by),
        () => store.directory.addMember(ada, by),
        () => store.directory.changeMember(org, 'nobody@example.org', rightsOf('owner'), by),
        () => store.directory.removeMember(org, 'nobody@example.org', by),
      ];
      for (const refuse of refused) await expect(refuse(), String(refuse)).rejects.toThrow();
      // Nor is a part of a refused change left.
      expect(await store.directory.listKeys(org)).toEqual(keys);
      await store.directory.changeProject(org, 'p', { name: 'p', timeZone: null }, by);
      await store.directory.changeKey(org, 'k', 'disable', by);
      await store.directory.changeKey(org, 'revoked', 'revoke', by);
      await store.directory.changeKey(org, 'k', 'enable', by);
      await store.directory.changeKey(org, 'k', 'enable', by);
      const [enabled, ...rest] = await store.directory.readAudit(org, all);
      expect(enabled).toMatchObject({ action: 'key.enable', targetId: 'k' });
      expect(rest).toEqual(before);
    });

    test('has no entry for recording, using a key or reading', async () => {
      const store = await openNew();
      await store.directory.createProject(projectOf('p'), actorAt(1));
      await store.directory.createKey(keyOf('k'), actorAt(2));
      const before = await store.directory.readAudit(org, all);
      await store.counts.record('p', [{ id: 'a', caller: 'web', occurredAt: 1 }]);
      await store.directory.touchKey('k', 5000);
      await store.directory.findAccess('hash of k', 'p');
      await store.directory.listKeys(org);
      await store.maintenance.verify();
      expect(await store.directory.readAudit(org, all)).toEqual(before);
    });

    test('has one entry per change, newest first, which every handle sees at once', async () => {
      const { open } = await factory();
      const [store, other] = [await open(), await open()];
      expect(await store.directory.readAudit(org, all)).toEqual([]);
      for (const [at, [change, action, targetId, detail]] of changes.entries()) {
        const by = actorAt(at);
        await change(store, by);
        const entries = await other.directory.readAudit(org, all);
        expect(entries).toHaveLength(at + 1);
        expect(entries[0]).toEqual({
          number: expect.any(Number),
          at,
          actor: by.name,
          address: by.address,
          action,
          targetId,
          detail,
        });
      }
      const entries = await store.directory.readAudit(org, all);
      expect(entries.map(({ action }) => action)).toEqual(changes.map(([, action]) => action).toReversed());
      const numbers = entries.map(({ number }) => number);
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => b - a));
      expect(JSON.stringify(entries)).not.toContain('hash of');
    });

    test('has the entry of a change, or the change is not made', async () => {
      const { open } = await factory();
      const [store, other] = [await open(), await open()];
      // The log takes no entry without a name.
      const nobody = { ...actorAt(1), name: null as unknown as string };
      const read = () =>
        Promise.all([
          other.directory.listProjects(org),
          other.directory.listKeys(org),
          other.directory.listMembers(org),
          other.directory.readAudit(org, all),
        ]);
      for (const [at, [change]] of changes.entries()) {
        const before = await read();
        await expect(change(store, nobody), String(change)).rejects.toThrow();
        expect(await read(), String(change)).toEqual(before);
        await change(store, actorAt(at));
      }
      expect(await store.directory.readAudit(org, all)).toHaveLength(changes.length);
    });

    test('is separate for each organization and begins with its creation', async () => {
      const store = await openNew();
      await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 1 }, actorAt(1));
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), actorAt(2));
      await store.directory.createKey(keyOf('theirs', { organizationId: 'rival' }), actorAt(3));
      await store.directory.createProject(projectOf('ours'), actorAt(4));
      await store.directory.changeKey('rival', 'theirs', 'revoke', actorAt(5));
      const read = async (id: string) =>
        (await store.directory.readAudit(id, all)).map(({ at, action, targetId }) => [at, action, targetId]);
      expect(await read('rival')).toEqual([
        [5, 'key.revoke', 'theirs'],
        [3, 'key.create', 'theirs'],
        [2, 'project.create', 'theirs'],
        [1, 'organization.create', 'rival'],
      ]);
      expect(await read(org)).toEqual([[4, 'project.create', 'ours']]);
      expect(await read('none')).toEqual([]);
    });

    test('can be read in pages and between two times', async () => {
      const store = await openNew();
      // Clocks may be set back: the order is that of writing, whatever the times say.
      const times = [10, 30, 20, -40, 50];
      for (const [index, at] of times.entries())
        await store.directory.createProject(projectOf(`p${index}`), actorAt(at));
      const read = async (filter: object) =>
        (await store.directory.readAudit(org, { ...all, ...filter })).map(({ at }) => at);
      expect(await read({})).toEqual([50, -40, 20, 30, 10]);
      expect(await read({ from: 20, to: 50 })).toEqual([20, 30]);
      expect(await read({ from: 21 })).toEqual([50, 30]);
      expect(await read({ to: 20 })).toEqual([-40, 10]);
      expect(await read({ from: 20, to: 20 })).toEqual([]);
      const pages: number[][] = [];
      let before: number | undefined;
      for (const _page of times.slice(1)) {
        const page = await store.directory.readAudit(org, {
          limit: 2,
          ...(before === undefined ? {} : { before }),
        });
        pages.push(page.map(({ at }) => at));
        before = page.at(-1)?.number ?? before;
      }
      expect(pages).toEqual([[50, -40], [20, 30], [10], []]);
      const [newest] = await store.directory.readAudit(org, { limit: 1 });
      expect(await read({ before: newest?.number, from: 20 })).toEqual([20, 30]);
    });

    test('filters by exact actor, action and target, alone and combined', async () => {
      const store = await openNew();
      const ids = ['p', 'q', 'p%', 'P'];
      for (const [at, id] of ids.entries())
        await store.directory.createProject(projectOf(id), actorAt(at % 2));
      await store.directory.changeProject(org, 'p', { name: 'new' }, actorAt(1));
      await store.directory.changeProject(org, 'q', { name: 'new' }, actorAt(7));
      await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 1 }, actorAt(1));
      const entries = await store.directory.readAudit(org, all);
      expect(entries.map(({ action, targetId, actor }) => [action, targetId, actor])).toEqual([
        ['project.change', 'q', 'actor 7'],
        ['project.change', 'p', 'actor 1'],
        ['project.create', 'P', 'actor 1'],
        ['project.create', 'p%', 'actor 0'],
        ['project.create', 'q', 'actor 1'],
        ['project.create', 'p', 'actor 0'],
      ]);
      for (const { to, ...asked } of auditFilters) {
        const fits = (one: AuditEntry) =>
          Object.entries(asked).every(([field, value]) => one[field as keyof AuditEntry] === value);
        const filter = to === undefined ? asked : { ...asked, to };
        const expected = entries.filter((one) => fits(one) && one.at < (to ?? 100));
        expect(await store.directory.readAudit(org, { ...all, ...filter }), JSON.stringify(filter)).toEqual(
          expected,
        );
        const [first] = expected;
        if (first === undefined) continue;
        expect(await store.directory.readAudit(org, { ...filter, limit: 1 })).toEqual([first]);
        expect(await store.directory.readAudit(org, { ...all, ...filter, before: first.number })).toEqual(
          expected.slice(1),
        );
      }
    });

    test('is read whole by what no index has, however far its entries lie apart', async () => {
      const store = await openNew();
      await store.directory.addMember(ada, actorAt(0));
      const isRare = (at: number) => at % 1_900 === 7;
      const renames = Array.from({ length: 2_100 }, (_, at) => {
        const action = isRare(at) ? ('user.password' as const) : ('user.name' as const);
        return store.directory.logUserChange(ada.email, { action, detail: '' }, actorAt(at));
      });
      await Promise.all(renames);
      const rare = [1907, 7];
      const read = async (filter: Partial<AuditFilter>) =>
        (await store.directory.readAudit(org, { ...all, targetId: ada.email, ...filter })).map(
          ({ at }) => at,
        );
      expect((await read({ action: 'user.password' })).toSorted((a, b) => b - a)).toEqual(rare);
      expect(await read({ action: 'user.password', limit: 1 })).toHaveLength(1);
      expect(await read({ action: 'user.name', from: 1907, to: 1908 })).toEqual([]);
      expect(await read({ from: 1907, to: 1908 })).toEqual([1907]);
      expect(await read({ from: 2_100 })).toEqual([]);
      const entries = await store.directory.readAudit(org, { limit: 5_000 });
      const half = entries[50]?.number ?? 0;
      const expected = entries.filter(({ at, number }) => number < half && at < 2_050).map(({ at }) => at);
      expect(await read({ before: half, to: 2_050, limit: 5_000 })).toEqual(expected);
      expect(expected.length).toBeGreaterThan(100);
    });

    test('deletes old entries of all organizations and never reuses their numbers', async () => {
      const store = await openNew();
      await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 1 }, actorAt(10));
      for (const at of [5, 20, 9]) await store.directory.createProject(projectOf(`p${at}`), actorAt(at));
      const before = await store.directory.readAudit(org, all);
      expect(await store.directory.pruneAudit(5, 9)).toBe(0);
      expect(await store.directory.pruneAudit(10, 1)).toBe(1);
      expect((await store.directory.readAudit(org, all)).map(({ at }) => at)).toEqual([9, 20]);
      expect(await store.directory.pruneAudit(10, 9)).toBe(1);
      expect((await store.directory.readAudit(org, all)).map(({ at }) => at)).toEqual([20]);
      expect((await store.directory.readAudit('rival', all)).map(({ at }) => at)).toEqual([10]);
      expect(await store.directory.pruneAudit(11, 9)).toBe(1);
      expect(await store.directory.readAudit('rival', all)).toEqual([]);
      expect(await store.directory.pruneAudit(1_000_000, 9)).toBe(1);
      expect(await store.directory.pruneAudit(1_000_000, 9)).toBe(0);
      await store.directory.createProject(projectOf('next'), actorAt(3));
      const [next] = await store.directory.readAudit(org, all);
      // A forgotten entry's number is never another's.
      expect(next?.number).toBeGreaterThan(Math.max(...before.map(({ number }) => number)));
      expect(await store.directory.listProjects(org)).toHaveLength(4);
    });

    test('has an entry for every concurrent change', async () => {
      const { open } = await factory();
      const handles = [await open(), await open()];
      const ids = Array.from({ length: 20 }, (_, index) => `p${index}`);
      await Promise.all(
        ids.map((id, index) => handles[index % 2]?.directory.createProject(projectOf(id), actorAt(index))),
      );
      const entries = (await handles[0]?.directory.readAudit(org, all)) ?? [];
      expect(entries.map(({ targetId }) => targetId).toSorted()).toEqual(ids.toSorted());
    });
  });
}
