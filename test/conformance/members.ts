import { describe, expect, test } from 'vitest';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { by, type PlaceFactory, projectOf } from '../support/storage/store.js';
import { at, invitationOf, logOf, memberOf, rightsOf } from '../support/users/people.js';

const notFound = { code: 'not_found' };
const org = DEFAULT_ORGANIZATION_ID;

export function describeMembers(kind: string, factory: PlaceFactory): void {
  const openNew = async () => {
    const store = await (await factory()).open();
    await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 500 }, by);
    return store;
  };

  describe(`${kind}: members`, () => {
    test('are refused with a code and unchanged if an address is taken or missing', async () => {
      const store = await openNew();
      const ada = memberOf('ada@example.org', { role: 'owner' });
      const bob = memberOf('bob@example.org', { organizationId: 'rival' });
      await store.directory.addMember(ada, by);
      await store.directory.addMember(bob, by);
      await expect(store.directory.addMember(memberOf(ada.email), by)).rejects.toMatchObject({
        code: 'already_exists',
      });
      const homeless = memberOf(ada.email, { organizationId: 'none' });
      await expect(store.directory.addMember(homeless, by)).rejects.toMatchObject(notFound);
      for (const [organizationId, email] of [
        [org, bob.email],
        ['rival', ada.email],
        ['none', ada.email],
        [org, 'nobody@example.org'],
      ] as const) {
        await expect(
          store.directory.changeMember(organizationId, email, rightsOf('editor'), by),
        ).rejects.toMatchObject(notFound);
        await expect(store.directory.removeMember(organizationId, email, by)).rejects.toMatchObject(notFound);
      }
      expect(await store.directory.listMembers(org)).toEqual([ada]);
      expect(await store.directory.listMembers('rival')).toEqual([bob]);
    });

    test('are listed by creation time, then address, for each organization', async () => {
      const store = await openNew();
      const late = memberOf('a@example.org', { createdAt: 3000 });
      const second = memberOf('b@example.org', { createdAt: 2000, role: 'editor' });
      const first = memberOf('a+b@example.org', { createdAt: 2000, role: 'owner' });
      const theirs = memberOf('a@example.org', { organizationId: 'rival', role: 'owner' });
      for (const member of [late, second, first, theirs]) await store.directory.addMember(member, by);
      expect(await store.directory.listMembers(org)).toEqual([first, second, late]);
      expect(await store.directory.listMembers('rival')).toEqual([theirs]);
      expect(await store.directory.listMembers('none')).toEqual([]);
    });

    test('are found by address, in their organization only', async () => {
      const store = await openNew();
      const ada = memberOf('ada@example.org', { role: 'owner' });
      const bob = memberOf('bob@example.org', { organizationId: 'rival' });
      for (const member of [ada, bob]) await store.directory.addMember(member, by);
      expect(await store.directory.findMember(org, ada.email)).toEqual(ada);
      expect(await store.directory.findMember('rival', ada.email)).toBeUndefined();
      expect(await store.directory.findMember('rival', bob.email)).toEqual(bob);
      expect(await store.directory.findMember(org, 'nobody@example.org')).toBeUndefined();
    });

    test('and invitations are listed whole, in their order, however many they are', async () => {
      const store = await openNew();
      const names = Array.from({ length: 401 }, (_, number) => `${(number * 7919) % 401}@example.org`);
      const members = names.map((email, number) => memberOf(email, { createdAt: 1000 + (number % 3) }));
      const invitations = names.map((email, number) => ({
        ...invitationOf(`to ${email}`, `guest-${email}`, 'viewer'),
        createdAt: 1000 + (number % 3),
      }));
      for (const member of members) await store.directory.addMember(member, by);
      for (const invitation of invitations) await store.directory.createInvitation(invitation, by);
      const sorted = <T extends { readonly createdAt: number; readonly email: string | null }>(all: T[]) =>
        all.toSorted((one, other) =>
          one.createdAt !== other.createdAt
            ? one.createdAt - other.createdAt
            : String(one.email) < String(other.email)
              ? -1
              : 1,
        );
      expect(await store.directory.listMembers(org)).toEqual(sorted(members));
      expect(await store.directory.listInvitations(org, 1)).toEqual(sorted(invitations));
    });

    test('read only projects of their organization, and no later one with the id of a deleted one', async () => {
      const store = await openNew();
      for (const id of ['docs', 'blog', 'b']) await store.directory.createProject(projectOf(id), by);
      await store.directory.createProject(projectOf('theirs', { organizationId: 'rival' }), by);
      const reader = memberOf('ada@example.org', { role: 'reader', projects: ['b', 'blog', 'docs'] });
      const others = memberOf('bob@example.org', { role: 'reader', projects: ['blog'] });
      const invited = invitationOf('i', 'eve@example.org', 'reader', { projects: ['b', 'docs'] });
      for (const id of ['none', 'theirs']) {
        const projects = ['docs', id];
        const refused = { code: 'not_found', message: `There is no project ${id}.` };
        await expect(store.directory.addMember({ ...reader, projects }, by)).rejects.toMatchObject(refused);
        await expect(
          store.directory.createInvitation({ ...invited, projects }, at(1000)),
        ).rejects.toMatchObject(refused);
      }
      for (const member of [reader, others]) await store.directory.addMember(member, by);
      await store.directory.createInvitation(invited, at(1000));
      await expect(
        store.directory.changeMember(org, others.email, { role: 'reader', projects: ['theirs'] }, by),
      ).rejects.toMatchObject(notFound);
      expect(await store.directory.listMembers(org)).toEqual([reader, others]);
      expect(await store.directory.listMemberships(reader.email)).toMatchObject([
        { role: 'reader', projects: ['b', 'blog', 'docs'] },
      ]);
      await store.directory.deleteProject(org, 'b', by);
      await store.directory.changeMember(
        org,
        others.email,
        { role: 'reader', projects: ['blog', 'docs'] },
        by,
      );
      const changed = [
        { ...reader, projects: ['blog', 'docs'] },
        { ...others, projects: ['blog', 'docs'] },
      ];
      expect(await store.directory.listMembers(org)).toEqual(changed);
      expect(await store.directory.listInvitations(org, 1000)).toEqual([{ ...invited, projects: ['docs'] }]);
      const joined = await store.directory.acceptInvitation('hash of i', 'eve@example.org', at(2000));
      expect(joined).toMatchObject({ role: 'reader', projects: ['docs'] });
      for (const id of ['docs', 'blog']) await store.directory.deleteProject(org, id, by);
      expect((await store.directory.listMembers(org)).flatMap(({ projects }) => projects)).toEqual([]);
      expect(await logOf(store)).toEqual(
        expect.arrayContaining([
          'member.add ada@example.org (reader of b, blog, docs)',
          'member.change bob@example.org (reader of blog, docs)',
          'invitation.create eve@example.org (reader of b, docs)',
          'member.add eve@example.org (reader of docs, invited by a test)',
        ]),
      );
    });

    test('change in one organization without affecting another', async () => {
      const store = await openNew();
      const ours = memberOf('ada@example.org');
      const theirs = memberOf('ada@example.org', { organizationId: 'rival' });
      for (const member of [ours, theirs]) await store.directory.addMember(member, by);
      await store.directory.changeMember(org, ours.email, rightsOf('editor'), by);
      expect(await store.directory.listMembers(org)).toEqual([{ ...ours, role: 'editor' }]);
      expect(await store.directory.listMembers('rival')).toEqual([theirs]);
      await store.directory.removeMember(org, ours.email, by);
      expect(await store.directory.listMembers(org)).toEqual([]);
      expect(await store.directory.listMembers('rival')).toEqual([theirs]);
      await expect(store.directory.removeMember(org, ours.email, by)).rejects.toMatchObject(notFound);
      const again = { ...ours, createdAt: 9000 };
      await store.directory.addMember(again, by);
      expect(await store.directory.listMembers(org)).toEqual([again]);
    });
  });
}
