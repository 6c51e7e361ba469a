/**
 * What members try to get more than their role allows. `test/program/dashboard/access.test.ts` sends every operation as every role,
 * and `test/conformance/members.ts` has the last owner on every store.
 */
import { describe, expect, test } from 'vitest';
import { ROLES, type Role } from '../../../src/domain/people/member.js';
import { type Browser, invite, PASSWORD, signedIn } from '../../support/http/dashboard.js';
import { type Service, sharedService } from '../../support/http/http.js';

const service = sharedService();
const organization = '/api/organizations/default';
const emailOf = (role: Role) => `${role}@example.org`;
const people = new Map<Role, Browser>();

async function person(role: Role): Promise<Browser> {
  const found = people.get(role) ?? (await signedIn(service(), emailOf(role), role));
  people.set(role, found);
  return found;
}

const membersOf = async ({ store }: Service) =>
  (await store.directory.listMembers('default')).map(({ email, role }) => [email, role] as const).toSorted();

const LOWER = ROLES.filter((role) => role !== 'owner');

describe.each(LOWER)('a member with the role %s', (role) => {
  test.each(ROLES)('cannot give anybody the role %s', async (wanted) => {
    await person('owner');
    const browser = await person(role);
    const before = await membersOf(service());
    for (const email of [emailOf(role), emailOf('owner'), emailOf(role).toUpperCase()]) {
      const change = { method: 'PATCH', path: `${organization}/members/${email}`, body: { role: wanted } };
      expect((await browser.send(change)).status).toBe(403);
    }
    const invitation = {
      path: `${organization}/invitations`,
      body: { email: 'new@example.org', role: wanted },
    };
    expect((await browser.send(invitation)).status).toBe(403);
    expect(await membersOf(service())).toEqual(before);
    expect(await service().store.directory.listInvitations('default', service().clock.nowMs)).toEqual([]);
  });

  test('gets no role by fields that other requests do not have', async () => {
    const browser = await person(role);
    const before = await membersOf(service());
    const tries = [
      { method: 'PATCH', path: '/api/account', body: { name: 'N', role: 'owner' } },
      { method: 'PATCH', path: '/api/account', body: { name: 'N', email: emailOf('owner') } },
      {
        method: 'PATCH',
        path: '/api/account',
        body: { name: 'N', organizations: [{ id: 'default', role: 'owner' }] },
      },
      { path: '/api/sign-in', body: { email: emailOf(role), password: PASSWORD, role: 'owner' } },
    ];
    for (const one of tries) expect((await browser.send(one)).status).toBe(400);
    expect(await membersOf(service())).toEqual(before);
  });

  test('gets no higher role by an invitation that is for somebody else', async () => {
    const browser = await person(role);
    const token = await invite(service(), `boss-of-${role}@example.org`, 'owner');
    const before = await membersOf(service());
    // The address in the request is not that of the invitation.
    const body = { token, name: 'N', password: PASSWORD, email: emailOf(role), role: 'owner' };
    expect((await browser.send({ path: '/api/invitations/accept', body })).status).toBe(400);
    expect(
      (
        await browser.send({
          path: '/api/set-up',
          body: { token, name: 'N', email: emailOf(role), password: PASSWORD },
        })
      ).status,
    ).toBe(404);
    expect(await membersOf(service())).toEqual(before);
    for (const { id } of await service().store.directory.listInvitations('default', service().clock.nowMs))
      await (await person('owner')).ask({ method: 'DELETE', path: `${organization}/invitations/${id}` }, 204);
  });
});

test('the last owner neither leaves nor takes a lower role', async () => {
  const owner = await person('owner');
  const path = `${organization}/members/${emailOf('owner')}`;
  const before = await membersOf(service());
  for (const role of LOWER)
    expect((await owner.send({ method: 'PATCH', path, body: { role } })).status).toBeGreaterThanOrEqual(400);
  expect((await owner.send({ method: 'DELETE', path })).status).toBeGreaterThanOrEqual(400);
  expect(await membersOf(service())).toEqual(before);
});

test('an owner who was removed cannot come back with what they made before', async () => {
  const leaver = await signedIn(service(), 'leaver@example.org', 'owner');
  const { token } = await leaver.ask<{ token: string }>(
    { path: `${organization}/invitations`, body: { email: 'friend@example.org', role: 'owner' } },
    201,
  );
  const owner = await person('owner');
  await owner.ask({ method: 'DELETE', path: `${organization}/members/leaver@example.org` });
  const body = { token, name: 'Friend', password: PASSWORD };
  expect((await leaver.send({ path: '/api/invitations/accept', body })).status).toBe(404);
  expect((await leaver.send({ path: `${organization}/members` })).status).toBe(404);
});
