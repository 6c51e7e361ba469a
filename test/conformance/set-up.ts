import { describe, expect, test } from 'vitest';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { by, type PlaceFactory } from '../support/storage/store.js';
import { addUser, at, invitationOf, logOf, memberOf, outcomesOf } from '../support/users/people.js';
import { isDeep } from '../support/volume.js';

const org = DEFAULT_ORGANIZATION_ID;
const [ada, bob] = ['ada@example.org', 'bob@example.org'] as const;
const notFound = { code: 'not_found' };
const rounds = isDeep ? 10 : 2;

export function describeSetUp(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 500 }, by);
    return { store, other };
  };
  const openNew = async () => (await openTwo()).store;

  describe(`${kind}: set-up addresses`, () => {
    const setUp = (id: string, more = {}) => invitationOf(id, null, 'owner', more);

    test('have no address and are neither listed nor logged', async () => {
      const store = await openNew();
      await store.directory.createInvitation(setUp('s'), by);
      expect(await store.directory.listInvitations(org, 2000)).toEqual([]);
      expect(await store.directory.findInvitation('hash of s', 2000)).toMatchObject({ email: null });
      expect(await store.directory.findInvitation('hash of s', 9000)).toBeUndefined();
      expect(await logOf(store)).toEqual([]);
    });

    test('end the older ones of their organization', async () => {
      const store = await openNew();
      await addUser(store, ada);
      await store.directory.createInvitation(invitationOf('i', bob, 'viewer'), by);
      await store.directory.createInvitation(setUp('u', { organizationId: 'rival' }), by);
      for (const id of ['s', 't']) await store.directory.createInvitation(setUp(id), by);
      expect(await store.directory.findInvitation('hash of s', 2000)).toBeUndefined();
      await expect(store.directory.acceptInvitation('hash of s', ada, at(2000))).rejects.toMatchObject(
        notFound,
      );
      for (const id of ['i', 't', 'u'])
        expect(await store.directory.findInvitation(`hash of ${id}`, 2000)).toBeDefined();
    });

    test('make a member an owner and are all used up by it', async () => {
      const store = await openNew();
      await store.directory.addMember(memberOf(ada, { createdAt: 10 }), by);
      await addUser(store, ada);
      await store.directory.createInvitation(setUp('s'), by);
      await store.directory.createInvitation(setUp('t', { organizationId: 'rival' }), by);
      await expect(store.directory.acceptInvitation('hash of s', ada, at(9000))).rejects.toMatchObject(
        notFound,
      );
      const owner = memberOf(ada, { role: 'owner', createdAt: 10 });
      expect(await store.directory.acceptInvitation('hash of s', ada, at(2000))).toEqual(owner);
      expect(await store.directory.listMembers(org)).toEqual([owner]);
      for (const id of ['s', 't'])
        expect(await store.directory.findInvitation(`hash of ${id}`, 2000)).toBeUndefined();
      expect(await logOf(store)).toContain(`member.add ${ada} (owner, invited by a test)`);
    });

    test('are refused once an owner can sign in', async () => {
      const store = await openNew();
      await store.directory.createInvitation(setUp('s'), by);
      await store.directory.addMember(memberOf(ada, { organizationId: 'rival', role: 'owner' }), by);
      await addUser(store, ada);
      await expect(store.directory.acceptInvitation('hash of s', bob, at(2000))).rejects.toMatchObject(
        notFound,
      );
      expect(await store.directory.listMembers(org)).toEqual([]);
    });

    test.each([
      ['the same one', 's'],
      ['those of two organizations', 't'],
    ])('admit one of two people who use them concurrently: %s', async (_what, id) => {
      for (let round = 0; round < rounds; round++) {
        const { store, other } = await openTwo();
        for (const email of [ada, bob]) await addUser(store, email);
        await store.directory.createInvitation(setUp('s'), by);
        await store.directory.createInvitation(setUp('t', { organizationId: 'rival' }), by);
        const outcomes = await outcomesOf([
          store.directory.acceptInvitation('hash of s', ada, at(2000)),
          other.directory.acceptInvitation(`hash of ${id}`, bob, at(2000)),
        ]);
        expect(outcomes).toEqual({ done: 1, codes: ['not_found'] });
        const members = [
          ...(await store.directory.listMembers(org)),
          ...(await store.directory.listMembers('rival')),
        ];
        expect(members.map(({ role }) => role)).toEqual(['owner']);
      }
    });

    test.each([org, 'rival'])(
      'admit an owner of %s who got an account only now, as after copying members',
      async (of) => {
        const store = await openNew();
        await store.directory.addMember(
          memberOf(ada, { organizationId: of, role: 'owner', createdAt: 10 }),
          by,
        );
        await store.directory.addMember(
          memberOf(bob, { organizationId: of, role: 'owner', createdAt: 10 }),
          by,
        );
        await store.directory.createInvitation(setUp('s'), by);
        await store.directory.createInvitation(setUp('t', { organizationId: 'rival' }), by);
        await addUser(store, ada);
        await expect(store.directory.acceptInvitation('hash of s', bob, at(2000))).rejects.toMatchObject(
          notFound,
        );
        expect(await store.directory.acceptInvitation('hash of s', ada, at(2000))).toEqual(
          memberOf(ada, { role: 'owner', createdAt: of === org ? 10 : 2000 }),
        );
        for (const id of ['s', 't'])
          expect(await store.directory.findInvitation(`hash of ${id}`, 2000)).toBeUndefined();
        expect(await logOf(store)).toContain(`member.add ${ada} (owner, invited by a test)`);
      },
    );

    test('admit the one of two such owners whose account is older', async () => {
      for (let round = 0; round < rounds; round++) {
        const { store, other } = await openTwo();
        for (const email of [ada, bob])
          await store.directory.addMember(memberOf(email, { role: 'owner' }), by);
        await addUser(store, ada, { createdAt: '2026-01-01T00:00:00.002Z' });
        await addUser(store, bob, { createdAt: '2026-01-01T00:00:00.001Z' });
        await store.directory.createInvitation(setUp('s'), by);
        const accept = (one: typeof store, email: string) =>
          one.directory.acceptInvitation('hash of s', email, at(2000));
        await expect(accept(store, ada)).rejects.toMatchObject(notFound);
        const [first, second] = await Promise.allSettled([accept(store, bob), accept(other, ada)]);
        expect(first).toMatchObject({ status: 'fulfilled', value: { email: bob, role: 'owner' } });
        expect(second).toMatchObject({ status: 'rejected', reason: notFound });
      }
    });
  });
}
