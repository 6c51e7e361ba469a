/** Share links: who may create them, when they work, and what becomes of them with their project. */
import { describe, expect, test } from 'vitest';
import { shareLinksMax } from '../../src/domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { shareLinkOf } from '../support/storage/entities.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';
import { logOf, memberOf } from '../support/users/people.js';

const notFound = { code: 'not_found' };
const org = DEFAULT_ORGANIZATION_ID;

export function describeShareLinks(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [one, other] = [await open(), await open()];
    await one.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 500 }, by);
    for (const id of ['docs', 'blog']) await one.directory.createProject(projectOf(id), by);
    return { one, other };
  };

  describe(`${kind}: share links`, () => {
    test('are refused for projects of others, with ids and hashes that are taken, and above the limit', async () => {
      const { one, other } = await openTwo();
      const rivals = shareLinkOf('theirs', 'docs', { organizationId: 'rival' });
      await expect(one.directory.createShareLink(rivals, by)).rejects.toMatchObject(notFound);
      await expect(one.directory.createShareLink(shareLinkOf('a', 'none'), by)).rejects.toMatchObject(
        notFound,
      );
      await one.directory.createShareLink(shareLinkOf('a', 'docs'), by);
      for (const taken of [
        shareLinkOf('a', 'blog', { tokenHash: 'x' }),
        shareLinkOf('b', 'blog', { tokenHash: 'hash of a' }),
      ])
        await expect(other.directory.createShareLink(taken, by)).rejects.toMatchObject({
          code: 'already_exists',
        });
      for (const [organizationId, id] of [
        ['rival', 'a'],
        [org, 'none'],
      ] as const)
        await expect(one.directory.revokeShareLink(organizationId, id, by)).rejects.toMatchObject(notFound);
      expect(await one.directory.listShareLinks(org, 'docs')).toEqual([shareLinkOf('a', 'docs')]);
      expect(await one.directory.listShareLinks('rival', 'docs')).toEqual([]);
      expect(await one.directory.listShareLinks(org, 'blog')).toEqual([]);

      // Of those that are created at once, as many succeed as the limit allows.
      const ids = Array.from({ length: shareLinksMax + 3 }, (_, number) => `n${number}`);
      const created = await Promise.allSettled(
        ids.map((id, at) => [one, other][at % 2]?.directory.createShareLink(shareLinkOf(id, 'docs'), by)),
      );
      expect(created.filter(({ status }) => status === 'rejected')).toHaveLength(4);
      expect(await one.directory.listShareLinks(org, 'docs')).toHaveLength(shareLinksMax);
      await one.directory.createShareLink(shareLinkOf('elsewhere', 'blog'), by);
    });

    test('are found by hash until they expire or are revoked, through every handle', async () => {
      const { one, other } = await openTwo();
      const link = shareLinkOf('a', 'docs', {
        passwordHash: 'hash',
        origins: ['http://localhost:3000', 'https://docs.example.com'],
        expiresAt: 5000,
      });
      await one.directory.createShareLink(link, by);
      await one.directory.createShareLink(shareLinkOf('b', 'docs', { createdAt: 2000 }), by);
      expect(await other.directory.findShareLink('hash of a', 4999)).toEqual(link);
      expect(await other.directory.findShareLink('hash of a', 5000)).toBeUndefined();
      expect(await other.directory.findShareLink('hash of A', 1000)).toBeUndefined();
      expect(await other.directory.findShareLink('hash of b', Number.MAX_SAFE_INTEGER)).toMatchObject({
        id: 'b',
      });
      expect((await other.directory.listShareLinks(org, 'docs')).map(({ id }) => id)).toEqual(['a', 'b']);

      await other.directory.revokeShareLink(org, 'a', by);
      expect(await one.directory.findShareLink('hash of a', 1000)).toBeUndefined();
      await expect(one.directory.revokeShareLink(org, 'a', by)).rejects.toMatchObject(notFound);
      expect((await logOf(one)).slice(-3)).toEqual([
        'share_link.create a (link a, of project docs; with a password; embeddable on http://localhost:3000, https://docs.example.com)',
        'share_link.create b (link b, of project docs)',
        'share_link.revoke a (link a, of project docs)',
      ]);
    });

    test('go with their project, and stay when their creator is removed', async () => {
      const { one, other } = await openTwo();
      await one.directory.addMember(memberOf('ada@example.org'), by);
      for (const id of ['docs', 'blog'])
        await one.directory.createShareLink(
          shareLinkOf(`of-${id}`, id, { createdBy: 'ada@example.org' }),
          by,
        );
      await one.directory.removeMember(org, 'ada@example.org', by);
      expect(await other.directory.findShareLink('hash of of-docs', 1000)).toBeDefined();
      await one.directory.deleteProject(org, 'docs', by);
      expect(await other.directory.findShareLink('hash of of-docs', 1000)).toBeUndefined();
      expect(await other.directory.listShareLinks(org, 'docs')).toEqual([]);
      expect(await other.directory.listShareLinks(org, 'blog')).toHaveLength(1);
      await expect(one.directory.createShareLink(shareLinkOf('late', 'docs'), by)).rejects.toMatchObject(
        notFound,
      );
    });
  });
}
