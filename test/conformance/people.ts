import { describe, expect, test } from 'vitest';
import { DEFAULT_ORGANIZATION_ID } from '../../src/domain/projects/organization.js';
import { by, type PlaceFactory } from '../support/storage/store.js';
import {
  addUser,
  at,
  invitationOf,
  logOf,
  memberOf,
  outcomesOf,
  rightsOf,
  runOnUsers,
} from '../support/users/people.js';

const org = DEFAULT_ORGANIZATION_ID;
const [ada, bob, eve] = ['ada@example.org', 'bob@example.org', 'eve@example.org'] as const;
const notFound = { code: 'not_found' };

export function describePeople(kind: string, factory: PlaceFactory): void {
  const openTwo = async () => {
    const { open } = await factory();
    const [store, other] = [await open(), await open()];
    await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt: 500 }, by);
    return { store, other };
  };
  const openNew = async () => (await openTwo()).store;

  describe(`${kind}: people`, () => {
    test('have memberships by address, sorted by creation of the organization', async () => {
      const store = await openNew();
      await store.directory.createOrganization({ id: 'acme', name: 'Acme', createdAt: 500 }, by);
      await store.directory.addMember(memberOf(ada, { role: 'owner', createdAt: 10 }), by);
      await store.directory.addMember(
        memberOf(ada, { organizationId: 'rival', role: 'viewer', createdAt: 5 }),
        by,
      );
      await store.directory.addMember(memberOf(ada, { organizationId: 'acme', role: 'editor' }), by);
      await store.directory.addMember(memberOf(bob), by);
      await store.directory.changeOrganization(org, { secondFactor: 'required' }, by);
      expect(await store.directory.listMemberships(ada)).toEqual([
        {
          organizationId: org,
          organizationName: 'Default',
          role: 'owner',
          projects: [],
          secondFactor: 'required',
        },
        {
          organizationId: 'acme',
          organizationName: 'Acme',
          role: 'editor',
          projects: [],
          secondFactor: 'optional',
        },
        {
          organizationId: 'rival',
          organizationName: 'Rival',
          role: 'viewer',
          projects: [],
          secondFactor: 'optional',
        },
      ]);
      expect(await store.directory.listMemberships(eve)).toEqual([]);
      expect(await store.directory.listMemberships('')).toEqual([]);
    });

    test.each(['editor', 'viewer', null] as const)(
      'withdraw the invitations of an owner who becomes %s, and make no others',
      async (role) => {
        const { store, other } = await openTwo();
        for (const organizationId of [org, 'rival'])
          for (const email of [ada, bob])
            await store.directory.addMember(memberOf(email, { organizationId, role: 'owner' }), by);
        const invite = async (id: string, who: string, organizationId = org) =>
          store.directory.createInvitation(
            invitationOf(id, `${id}@example.net`, 'editor', { organizationId, createdBy: who }),
            { ...at(1000), name: who },
          );
        await invite('first', ada);
        await invite('second', ada);
        await invite('by-bob', bob);
        await invite('elsewhere', ada, 'rival');
        if (role === null) await other.directory.removeMember(org, ada, by);
        else await other.directory.changeMember(org, ada, rightsOf(role), by);
        expect((await store.directory.listInvitations(org, 1000)).map(({ id }) => id)).toEqual(['by-bob']);
        expect((await store.directory.listInvitations('rival', 1000)).map(({ id }) => id)).toEqual([
          'elsewhere',
        ]);
        expect((await logOf(store)).slice(-3).toSorted()).toEqual([
          `invitation.revoke first@example.net (was made by ${ada})`,
          `invitation.revoke second@example.net (was made by ${ada})`,
          role === null ? `member.remove ${ada} ()` : `member.change ${ada} (${role})`,
        ]);
        await expect(invite('late', ada)).rejects.toMatchObject({ code: 'invalid' });
        await expect(invite('never', eve)).rejects.toMatchObject({ code: 'invalid' });
      },
    );

    test('leave no invitation behind that is made while they are removed', async () => {
      const { store, other } = await openTwo();
      for (const email of [ada, bob]) await store.directory.addMember(memberOf(email, { role: 'owner' }), by);
      const invite = (number: number) =>
        store.directory.createInvitation(
          invitationOf(`i${number}`, `i${number}@example.net`, 'owner', { createdBy: ada }),
          { ...at(1000), name: ada },
        );
      const made = Array.from({ length: 20 }, (_, number) => invite(number).catch(() => undefined));
      await other.directory.removeMember(org, ada, by);
      await Promise.all(made);
      expect(await store.directory.listInvitations(org, 1000)).toEqual([]);
    });

    test('have names only if they are users', async () => {
      const store = await openNew();
      await addUser(store, ada, { name: 'Ada "the first" Lovelace' });
      await addUser(store, bob, { name: 'Bob' });
      await store.directory.addMember(memberOf(eve), by);
      const asked = [eve, ada, 'nobody@example.org', ada, `x' OR '1'='1`];
      expect([...(await store.directory.findUsers(asked))]).toEqual([
        [ada, { name: 'Ada "the first" Lovelace', secondFactor: false }],
      ]);
      expect(await store.directory.findUsers([])).toEqual(new Map());
    });

    test('are expected as members, and until their last invitation expires', async () => {
      const store = await openNew();
      await store.directory.addMember(memberOf(ada, { organizationId: 'rival' }), by);
      await store.directory.createInvitation(invitationOf('i', bob, 'viewer', { expiresAt: 5000 }), by);
      const expected = async (now: number) =>
        Promise.all([ada, bob, eve, ''].map((email) => store.directory.isExpected(email, now)));
      expect(await expected(4999)).toEqual([true, true, false, false]);
      expect(await expected(5000)).toEqual([true, false, false, false]);
      await store.directory.createInvitation(invitationOf('set-up', null, 'owner'), by);
      expect(await store.directory.isExpected('', 2000)).toBe(false);
    });

    test('with an account whose address nobody has proved are in the organization whose link they used', async () => {
      const { store, other } = await openTwo();
      for (const organizationId of [org, 'rival'])
        await store.directory.addMember(memberOf(ada, { organizationId, role: 'owner' }), by);
      await addUser(store, ada, { isVerified: false });
      const change = { action: 'user.name', detail: 'new' } as const;
      const opened = async () => {
        await store.directory.logUserChange(ada, change, by);
        const memberships = await other.directory.listMemberships(ada);
        return {
          memberships: memberships.map(({ organizationId }) => organizationId),
          logged: [await logOf(store), await logOf(store, 'rival')].map(
            (log) => log.filter((entry) => entry.startsWith('user.name')).length,
          ),
          found: [
            (await store.directory.findUsers([ada], org)).size,
            (await store.directory.findUsers([ada], 'rival')).size,
          ],
          isSetUpOpen: await other.directory.isSetUpOpen(),
        };
      };
      expect(await opened()).toEqual({ memberships: [], logged: [0, 0], found: [0, 0], isSetUpOpen: true });
      expect((await store.directory.findUsers([ada])).size).toBe(1);
      const invite = (id: string) =>
        store.directory.createInvitation(invitationOf(id, ada, 'viewer', { organizationId: 'rival' }), by);
      await invite('i');
      // As a provider does that has not verified the address.
      await store.directory.acceptOffer('hash of i', ada, at(2000));
      expect(await opened()).toMatchObject({ memberships: [], found: [0, 0] });
      await invite('j');
      await other.directory.acceptInvitation('hash of j', ada, at(2000));
      expect(await opened()).toEqual({
        ...{ memberships: ['rival'], logged: [0, 1], found: [0, 1], isSetUpOpen: false },
      });
      await expect(invite('k')).rejects.toMatchObject({ code: 'already_exists' });
      // To other organizations, a member is told of as before.
      await store.directory.logUserChange(ada, change, by, org);
      expect((await logOf(store)).at(-1)).toBe(`user.name ${ada} (new)`);
    });

    test('have a second factor if they have codes or a passkey', async () => {
      const store = await openNew();
      for (const email of [ada, bob, eve]) await addUser(store, email);
      await runOnUsers(store, 'UPDATE {user_account} SET two_factor_enabled = ? WHERE email = ?', [
        true,
        ada,
      ]);
      await runOnUsers(store, 'UPDATE {user_account} SET two_factor_enabled = ? WHERE email = ?', [
        false,
        eve,
      ]);
      await runOnUsers(
        store,
        `INSERT INTO {user_passkey} (id, user_id, name, relying_party_id, credential_id, public_key, counter, transports,
           created_at) VALUES ('p', ?, 'Key', 'example.org', 'c', 'k', 0, '', ?)`,
        [`id of ${bob}`, '2026-01-01T00:00:00.000Z'],
      );
      const users = await store.directory.findUsers([ada, bob, eve]);
      expect([ada, bob, eve].map((email) => users.get(email)?.secondFactor)).toEqual([true, true, false]);
    });

    test('can set up until an owner of any organization can sign in', async () => {
      const { store, other } = await openTwo();
      const open = async () => [await store.directory.isSetUpOpen(), await other.directory.isSetUpOpen()];
      expect(await open()).toEqual([true, true]);
      await store.directory.addMember(memberOf(ada, { role: 'editor' }), by);
      await addUser(store, ada);
      await store.directory.addMember(memberOf(bob, { organizationId: 'rival', role: 'owner' }), by);
      expect(await open()).toEqual([true, true]);
      await addUser(store, bob);
      expect(await open()).toEqual([false, false]);
    });
  });

  describe(`${kind}: the last owner`, () => {
    test('stays owner in each organization, and the refusal is not logged', async () => {
      const store = await openNew();
      await store.directory.addMember(memberOf(ada, { role: 'owner' }), by);
      await store.directory.addMember(memberOf(bob), by);
      await store.directory.addMember(memberOf(bob, { organizationId: 'rival', role: 'owner' }), by);
      const before = await logOf(store);
      for (const attempt of [
        () => store.directory.changeMember(org, ada, rightsOf('editor'), by),
        () => store.directory.changeMember(org, ada, rightsOf('viewer'), by),
        () => store.directory.removeMember(org, ada, by),
        () => store.directory.removeMember('rival', bob, by),
      ]) {
        await expect(attempt()).rejects.toMatchObject({
          code: 'invalid',
          message: expect.stringMatching(/is the last owner; make another member an owner first\.$/),
        });
      }
      await store.directory.changeMember(org, ada, rightsOf('owner'), by);
      expect((await store.directory.listMembers(org)).map(({ role }) => role)).toEqual(['owner', 'viewer']);
      expect(await logOf(store)).toEqual([...before, `member.change ${ada} (owner)`]);
      await store.directory.changeMember(org, bob, rightsOf('owner'), by);
      await store.directory.removeMember(org, ada, by);
      expect(await store.directory.listMembers(org)).toEqual([memberOf(bob, { role: 'owner' })]);
    });

    test('remains when two owners are removed concurrently', async () => {
      const { store, other } = await openTwo();
      for (let round = 0; round < 10; round++) {
        const [one, two] = [`one${round}@example.org`, `two${round}@example.org`];
        const organizationId = `of-${round}`;
        await store.directory.createOrganization({ id: organizationId, name: 'One', createdAt: 500 }, by);
        for (const email of [one, two])
          await store.directory.addMember(memberOf(email, { organizationId, role: 'owner' }), by);
        const outcomes = await outcomesOf([
          store.directory.removeMember(organizationId, one, by),
          round % 2 === 0
            ? other.directory.removeMember(organizationId, two, by)
            : other.directory.changeMember(organizationId, two, rightsOf('viewer'), by),
        ]);
        expect(outcomes).toEqual({ done: 1, codes: ['invalid'] });
        const owners = (await store.directory.listMembers(organizationId)).filter(
          ({ role }) => role === 'owner',
        );
        expect(owners).toHaveLength(1);
      }
    });

    test('with an account remains when two who have one leave concurrently, and no account of another counts', async () => {
      const { store, other } = await openTwo();
      for (const email of [ada, bob]) await addUser(store, email);
      for (let round = 0; round < 10; round++) {
        const organizationId = `left-${round}`;
        await store.directory.createOrganization({ id: organizationId, name: 'One', createdAt: 500 }, by);
        for (const email of [ada, bob, 'eve@example.org'])
          await store.directory.addMember(memberOf(email, { organizationId, role: 'owner' }), by);
        const outcomes = await outcomesOf([
          store.directory.removeMember(organizationId, ada, { ...by, name: ada }),
          round % 2 === 0
            ? other.directory.removeMember(organizationId, bob, { ...by, name: bob })
            : other.directory.changeMember(organizationId, bob, rightsOf('viewer'), { ...by, name: bob }),
        ]);
        expect(outcomes).toEqual({ done: 1, codes: ['invalid'] });
        const [left = ''] = (await store.directory.listMembers(organizationId))
          .filter(({ role, email }) => role === 'owner' && email !== 'eve@example.org')
          .map(({ email }) => email);
        expect([ada, bob]).toContain(left);
        // An operator knows what they do.
        await store.directory.removeMember(organizationId, left, by);
      }
    });
  });

  describe(`${kind}: invitations`, () => {
    test('are refused with a code and unchanged if an address is taken or missing', async () => {
      const store = await openNew();
      await store.directory.addMember(memberOf(ada), by);
      await addUser(store, ada);
      const before = await logOf(store);
      const homeless = invitationOf('i', bob, 'viewer', { organizationId: 'none' });
      await expect(store.directory.createInvitation(homeless, by)).rejects.toMatchObject(notFound);
      await expect(
        store.directory.createInvitation(invitationOf('i', ada, 'owner'), by),
      ).rejects.toMatchObject({
        code: 'already_exists',
      });
      await store.directory.createInvitation(invitationOf('set-up', null, 'owner'), by);
      await expect(store.directory.revokeInvitation(org, 'i', by)).rejects.toMatchObject(notFound);
      await expect(store.directory.revokeInvitation(org, 'set-up', by)).rejects.toMatchObject(notFound);
      await expect(store.directory.acceptInvitation('hash of i', bob, at(2000))).rejects.toMatchObject(
        notFound,
      );
      expect(await store.directory.listInvitations(org, 2000)).toEqual([]);
      expect(await store.directory.findInvitation('hash of i', 2000)).toBeUndefined();
      expect(await store.directory.findInvitation('i', 2000)).toBeUndefined();
      expect(await logOf(store)).toEqual(before);
    });

    test('are listed and found until they expire, for each organization', async () => {
      const store = await openNew();
      const late = invitationOf('a', ada, 'viewer', { createdAt: 3000 });
      const early = invitationOf('b', bob, 'owner', { createdAt: 2000, expiresAt: 5000 });
      const theirs = invitationOf('c', ada, 'editor', { organizationId: 'rival', tokenHash: 'c' });
      for (const one of [late, early, theirs]) await store.directory.createInvitation(one, at(one.createdAt));
      expect(await store.directory.listInvitations(org, 4999)).toEqual([early, late]);
      expect(await store.directory.listInvitations(org, 5000)).toEqual([late]);
      expect(await store.directory.listInvitations('rival', 4999)).toEqual([theirs]);
      expect(await store.directory.listInvitations('none', 4999)).toEqual([]);
      expect(await store.directory.findInvitation('hash of b', 4999)).toEqual({
        ...early,
        organizationName: 'Default',
      });
      expect(await store.directory.findInvitation('hash of b', 5000)).toBeUndefined();
      expect(await store.directory.findInvitation('c', 4999)).toEqual({
        ...theirs,
        organizationName: 'Rival',
      });
      expect(await store.directory.listInvitationsFor(ada, 8999)).toEqual([
        { ...late, organizationName: 'Default' },
        { ...theirs, organizationName: 'Rival' },
      ]);
      expect(await store.directory.listInvitationsFor(bob, 4999)).toHaveLength(1);
      expect(await store.directory.listInvitationsFor(bob, 5000)).toEqual([]);
      expect(await logOf(store, 'rival')).toContain(`invitation.create ${ada} (editor)`);
    });

    test('replace earlier ones for the same address, on any node', async () => {
      const { store, other } = await openTwo();
      await store.directory.createInvitation(invitationOf('1', ada, 'viewer'), by);
      await store.directory.createInvitation(
        invitationOf('x', ada, 'viewer', { organizationId: 'rival', tokenHash: 'x' }),
        by,
      );
      await store.directory.createInvitation(invitationOf('y', bob, 'viewer'), by);
      const ids = Array.from({ length: 8 }, (_, number) => `again${number}`);
      const outcomes = await outcomesOf(
        ids.map((id, number) =>
          (number % 2 === 0 ? store : other).directory.createInvitation(invitationOf(id, ada, 'owner'), by),
        ),
      );
      expect(outcomes).toEqual({ done: ids.length, codes: [] });
      const listed = await store.directory.listInvitations(org, 2000);
      expect(listed.filter(({ email }) => email === ada)).toHaveLength(1);
      expect(listed.map(({ email }) => email).toSorted()).toEqual([ada, bob]);
      expect(await store.directory.findInvitation('hash of 1', 2000)).toBeUndefined();
      expect(await store.directory.listInvitations('rival', 2000)).toHaveLength(1);
    });

    test('can be for a member who cannot sign in yet and keeps their role', async () => {
      const store = await openNew();
      const member = memberOf(ada, { role: 'owner' });
      await store.directory.addMember(member, by);
      await store.directory.createInvitation(invitationOf('i', ada, 'viewer'), by);
      expect(await store.directory.acceptInvitation('hash of i', ada, at(2000))).toEqual(member);
      expect(await store.directory.listMembers(org)).toEqual([member]);
      expect(await logOf(store)).toEqual([`member.add ${ada} (owner)`, `invitation.create ${ada} (viewer)`]);
    });

    test('of an address are accepted together, but for those that have expired, and prove nothing', async () => {
      const { store, other } = await openTwo();
      for (const id of ['acme', 'zeta'])
        await store.directory.createOrganization({ id, name: id, createdAt: 600 }, by);
      await addUser(store, ada, { isVerified: false });
      for (const [organizationId, more] of [
        [org, {}],
        ['rival', { expiresAt: 5000 }],
        ['acme', {}],
        ['zeta', {}],
      ] as const) {
        const invited = { organizationId, tokenHash: organizationId, ...more };
        await store.directory.createInvitation(
          invitationOf(`to ${organizationId}`, ada, 'editor', invited),
          by,
        );
      }
      await store.directory.createInvitation(invitationOf('of another', bob, 'editor'), by);
      const at5000 = await outcomesOf(
        [store, other].map((one) => one.directory.acceptInvitationsFor(ada, at(5000))),
      );
      expect(at5000).toEqual({ done: 2, codes: [] });
      for (const [organizationId, members] of [
        [org, 1],
        ['rival', 0],
        ['acme', 1],
        ['zeta', 1],
      ] as const)
        expect(await other.directory.listMembers(organizationId)).toHaveLength(members);
      expect(await store.directory.listMemberships(ada)).toEqual([]);
      expect(await store.directory.listInvitationsFor(bob, 5000)).toHaveLength(1);
    });

    test('can be withdrawn, but not by another organization', async () => {
      const store = await openNew();
      await store.directory.createInvitation(invitationOf('i', ada, 'viewer'), by);
      await expect(store.directory.revokeInvitation('rival', 'i', by)).rejects.toMatchObject(notFound);
      await store.directory.revokeInvitation(org, 'i', by);
      await expect(store.directory.revokeInvitation(org, 'i', by)).rejects.toMatchObject(notFound);
      await expect(store.directory.acceptInvitation('hash of i', ada, at(2000))).rejects.toMatchObject(
        notFound,
      );
      expect(await store.directory.listInvitations(org, 2000)).toEqual([]);
      expect(await logOf(store)).toEqual([
        `invitation.create ${ada} (viewer)`,
        `invitation.revoke ${ada} ()`,
      ]);
    });

    test('add a member once, for the right address, before they expire', async () => {
      const { store, other } = await openTwo();
      await store.directory.createInvitation(invitationOf('i', ada, 'editor', { createdBy: 'eve' }), by);
      for (const [email, time] of [
        [bob, 2000],
        ['', 2000],
        [ada, 9000],
      ] as const) {
        await expect(store.directory.acceptInvitation('hash of i', email, at(time))).rejects.toMatchObject(
          notFound,
        );
      }
      const outcomes = await outcomesOf(
        [store, other, store, other].map((one) => one.directory.acceptInvitation('hash of i', ada, at(8999))),
      );
      expect(outcomes).toEqual({ done: 1, codes: ['not_found', 'not_found', 'not_found'] });
      expect(await store.directory.listMembers(org)).toEqual([
        memberOf(ada, { role: 'editor', createdAt: 8999 }),
      ]);
      expect(await other.directory.listInvitations(org, 2000)).toEqual([]);
      expect(await logOf(store)).toEqual([
        `invitation.create ${ada} (editor)`,
        `member.add ${ada} (editor, invited by eve)`,
      ]);
      const [entry] = await store.directory.readAudit(org, { limit: 1 });
      expect(entry).toMatchObject({ actor: by.name, address: by.address, at: 8999 });
    });
  });
}
