import { describe, expect, test } from 'vitest';
import { keyNoticesMax } from '../../src/domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { dayMs } from '../../src/domain/time/duration.js';
import { shareLinkOf } from '../support/storage/entities.js';
import { by, keyOf, type PlaceFactory, projectOf } from '../support/storage/store.js';
import { rightsOf } from '../support/users/people.js';

const alreadyExists = { code: 'already_exists' };
const notFound = { code: 'not_found' };
const org = DEFAULT_ORGANIZATION_ID;
const rival = { id: 'rival', name: 'Rival', createdAt: 500 };

export function describeManagement(kind: string, factory: PlaceFactory): void {
  const openNew = async () => (await factory()).open();

  describe(`${kind}: organizations and projects`, () => {
    test('are refused with a code if an id is taken or missing', async () => {
      const store = await openNew();
      await store.directory.createOrganization(rival, by);
      await store.directory.createProject(projectOf('a'), by);
      await expect(store.directory.createOrganization(rival, by)).rejects.toMatchObject(alreadyExists);
      await expect(store.directory.createProject(projectOf('a'), by)).rejects.toMatchObject(alreadyExists);
      await expect(
        store.directory.createProject(projectOf('a', { organizationId: 'rival' }), by),
      ).rejects.toMatchObject(alreadyExists);
      await expect(
        store.directory.createProject(projectOf('b', { organizationId: 'none' }), by),
      ).rejects.toMatchObject(notFound);
      expect(await store.directory.findProject(org, 'b')).toBeUndefined();
    });

    test('are created although a concurrent operation is refused', async () => {
      const store = await openNew();
      const results = await Promise.allSettled([
        store.directory.createProject(projectOf('a'), by),
        store.directory.createProject(projectOf('a'), by),
        store.directory.createProject(projectOf('b'), by),
        store.counts.record('none', [{ id: 'x', caller: 'web', occurredAt: 1 }]),
        store.directory.createProject(projectOf('c'), by),
      ]);
      expect(results.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'rejected',
        'fulfilled',
      ]);
      expect((await store.directory.listProjects(org)).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
      expect(await store.directory.countProjects(org)).toBe(3);
      expect(await store.directory.countProjects('none')).toBe(0);
    });

    test('are listed by creation time, then id, for each organization', async () => {
      const store = await openNew();
      await store.directory.createOrganization(rival, by);
      await store.directory.createProject(projectOf('late', { createdAt: 3000 }), by);
      await store.directory.createProject(projectOf('b', { createdAt: 2000 }), by);
      await store.directory.createProject(projectOf('a', { createdAt: 2000, name: 'Ää 📚' }), by);
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
      expect(await store.directory.listProjects(org)).toEqual([
        projectOf('a', { createdAt: 2000, name: 'Ää 📚' }),
        projectOf('b', { createdAt: 2000 }),
        projectOf('late', { createdAt: 3000 }),
      ]);
      expect(await store.directory.listProjects('none')).toEqual([]);
      await store.directory.createOrganization({ id: 'acme', name: 'Acme', createdAt: 600 }, by);
      expect((await store.directory.listOrganizations()).map(({ id }) => id)).toEqual([org, 'rival', 'acme']);
    });

    test('do not reveal projects of other organizations', async () => {
      const store = await openNew();
      await store.directory.createOrganization(rival, by);
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
      expect(await store.directory.findProject(org, 'theirs')).toBeUndefined();
      expect(await store.directory.findProject(org, 'none')).toBeUndefined();
      await expect(store.directory.createProject(projectOf('theirs'), by)).rejects.toThrow(
        'The id theirs is not free on this server. Choose another one.',
      );
      expect(await store.directory.findProject('rival', 'theirs')).toEqual(
        projectOf('theirs', { organizationId: 'rival' }),
      );
    });

    test('have names that mean nothing in SQL, and so have keys, share links and people', async () => {
      const store = await openNew();
      const name = `O'Neil "docs" \\ %_ $1 ? $$ */ ; --`;
      const actor = { ...by, name };
      const member = {
        organizationId: org,
        email: "o'neil@example.org",
        ...rightsOf('viewer'),
        createdAt: 1,
      };
      await store.directory.createOrganization({ ...rival, name }, actor);
      await store.directory.changeOrganization(org, { name }, actor);
      await store.directory.createProject(projectOf('p', { name }), actor);
      await store.directory.createProject(projectOf('q'), actor);
      await store.directory.changeProject(org, 'q', { name }, actor);
      await store.directory.createKey(keyOf('k', { name }), actor);
      await store.directory.createShareLink(shareLinkOf('s', 'p', { name }), actor);
      await store.directory.addMember(member, actor);
      expect((await store.directory.listOrganizations()).map((one) => one.name)).toEqual([name, name]);
      expect((await store.directory.listProjects(org)).map((one) => one.name)).toEqual([name, name]);
      expect(await store.directory.listKeys(org)).toMatchObject([{ name }]);
      expect(await store.directory.listShareLinks(org, 'p')).toMatchObject([{ name }]);
      expect(await store.directory.listMemberships(member.email)).toMatchObject([{ organizationName: name }]);
      const told = await store.directory.readAudit(org, { actor: name, limit: 100 });
      expect(told.map((one) => one.action).toSorted()).toEqual([
        'key.create',
        'member.add',
        'organization.change',
        'project.change',
        'project.create',
        'project.create',
        'share_link.create',
      ]);
    });

    test('have ids that are compared byte by byte', async () => {
      const store = await openNew();
      await store.directory.createProject(projectOf('docs'), by);
      await store.directory.createProject(projectOf('Docs'), by);
      expect(await store.directory.findProject(org, 'DOCS')).toBeUndefined();
      expect(await store.directory.listProjects(org)).toHaveLength(2);
    });
  });

  describe(`${kind}: keys`, () => {
    test('are refused with a code if an id is taken or missing', async () => {
      const store = await openNew();
      await store.directory.createOrganization(rival, by);
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
      await store.directory.createKey(keyOf('k'), by);
      await expect(store.directory.createKey(keyOf('k', { hash: 'other' }), by)).rejects.toMatchObject(
        alreadyExists,
      );
      await expect(store.directory.createKey(keyOf('l', { hash: 'hash of k' }), by)).rejects.toMatchObject(
        alreadyExists,
      );
      await expect(
        store.directory.createKey(keyOf('m', { organizationId: 'none' }), by),
      ).rejects.toMatchObject(notFound);
      for (const projectId of ['none', 'theirs']) {
        await expect(
          store.directory.createKey(keyOf('n', { type: 'recording', projectId }), by),
        ).rejects.toMatchObject(notFound);
      }
      expect(await store.directory.findAccess('none', 'theirs')).toBeUndefined();
      expect(await store.directory.listKeys(org)).toEqual([keyOf('k')]);
    });

    test('are returned as they were created', async () => {
      const store = await openNew();
      await store.directory.createProject(projectOf('docs'), by);
      const key = keyOf('k', {
        type: 'recording',
        projectId: 'docs',
        expiresAt: 9_999_999_999_999,
        lastUsedAt: 7,
      });
      await store.directory.createKey(key, by);
      const found = await store.directory.findAccess(key.hash, 'docs');
      expect(found).toEqual({ ...found, key, project: projectOf('docs') });
      expect(await store.directory.listKeys(org)).toEqual([key]);
      expect(await store.directory.listKeys('rival')).toEqual([]);
    });

    test('find only projects of their organization', async () => {
      const store = await openNew();
      await store.directory.createOrganization(rival, by);
      await store.directory.createProject(projectOf('ours'), by);
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
      await store.directory.createKey(keyOf('k'), by);
      for (const projectId of ['theirs', 'none', '']) {
        const found = await store.directory.findAccess('hash of k', projectId);
        expect(found).toEqual({ ...found, key: keyOf('k'), project: undefined });
      }
      expect((await store.directory.findAccess('hash of k', 'ours'))?.project).toEqual(projectOf('ours'));
      await store.directory.createProject(projectOf('none'), by);
      expect((await store.directory.findAccess('hash of k', 'none'))?.project).toEqual(projectOf('none'));
    });

    test('remember their last use, which moves back in time only after a wrong clock', async () => {
      const store = await openNew();
      await store.directory.createKey(keyOf('k'), by);
      await store.directory.touchKey('k', 2000);
      await store.directory.touchKey('k', 1500);
      await store.directory.touchKey('none', 3000);
      expect(await store.directory.listKeys(org)).toEqual([keyOf('k', { lastUsedAt: 2000 })]);
      await store.directory.touchKey('k', 2001 + dayMs);
      await store.directory.touchKey('k', 2001);
      expect(await store.directory.listKeys(org)).toEqual([keyOf('k', { lastUsedAt: 2001 + dayMs })]);
      await store.directory.touchKey('k', 2000);
      expect(await store.directory.listKeys(org)).toEqual([keyOf('k', { lastUsedAt: 2000 })]);
    });

    test('that expire soon are announced while they record and are used', async () => {
      const store = await openNew();
      const used = { expiresAt: 5000, lastUsedAt: 2000 };
      const announced = [keyOf('z', { ...used, expiresAt: 1001 }), keyOf('a', { ...used, expiresAt: 9000 })];
      for (const key of [
        ...announced,
        keyOf('expired', { ...used, expiresAt: 1000 }),
        keyOf('later', { ...used, expiresAt: 9001 }),
        keyOf('endless', { ...used, expiresAt: null }),
        keyOf('idle', { ...used, lastUsedAt: 1999 }),
        keyOf('unused', { ...used, lastUsedAt: null }),
        keyOf('disabled', { ...used, disabledAt: 1 }),
        keyOf('revoked', { ...used, revokedAt: 1 }),
        keyOf('reads', { ...used, scopes: ['read'] }),
      ])
        await store.directory.createKey(key, by);
      const notice = { from: 1000, until: 9000, usedSince: 2000 };
      expect(await store.directory.listExpiringKeys(notice)).toEqual(announced);
    });

    test('of a project that expire soon are announced, however many of others expire earlier', async () => {
      const store = await openNew();
      const used = { expiresAt: 5000, lastUsedAt: 2000 };
      const keysOf = (projectId: string) => ({ ...used, type: 'recording', projectId }) as const;
      await store.directory.createOrganization(rival, by);
      for (const id of ['p', 'q']) await store.directory.createProject(projectOf(id), by);
      for (let at = 0; at < keyNoticesMax; at++)
        await store.directory.createKey(keyOf(`of q ${at}`, keysOf('q')), by);
      const own = keyOf('own', { ...keysOf('p'), expiresAt: 6000 });
      const wide = keyOf('wide', { ...used, expiresAt: 7000 });
      for (const key of [own, wide, keyOf('theirs', { ...used, organizationId: 'rival' })])
        await store.directory.createKey(key, by);
      const notice = { from: 1000, until: 9000, usedSince: 2000 };
      expect(await store.directory.listExpiringKeys(notice, projectOf('p'))).toEqual([own, wide]);
      expect(await store.directory.listExpiringKeys(notice)).toHaveLength(keyNoticesMax);
    });
  });
}
