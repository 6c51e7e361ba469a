/** How many projects, keys and people an organization can have. */
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { createKey, rotateKey } from '../../../src/app/keys.js';
import { inviteMember } from '../../../src/app/members.js';
import { createProject } from '../../../src/app/projects.js';
import { keysMax, membersMax, projectsMax, revokedKeysMax } from '../../../src/domain/limits.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/organization.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { by, keyOf, placeFactories, projectOf } from '../../support/storage/store.js';
import { invitationOf, memberOf } from '../../support/users/people.js';

const organizationId = DEFAULT_ORGANIZATION_ID;
const full = { code: 'invalid', message: expect.stringContaining('2,000') };
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number);

async function openNew(): Promise<Store> {
  const [[, newPlace] = []] = placeFactories;
  if (newPlace === undefined) throw new Error('there is no kind of store');
  return (await newPlace()).open();
}

function issuing(store: Store) {
  return { store, keyPrefix: 'cs', keyLifeMax: null, randomInt };
}

test('an organization with as many keys as it can have gets one more only for a revoked one', async () => {
  const store = await openNew();
  const keys = issuing(store);
  const create = () => createKey(keys, organizationId, { name: 'another', type: 'admin' }, by);
  const revokedLong = numbers(revokedKeysMax).map((at) => keyOf(`r${at}`, { revokedAt: 2000 + at }));
  const working = numbers(keysMax - 1).map((at) => keyOf(`k${at}`));
  for (const key of [...revokedLong, ...working]) await store.directory.createKey(key, by);
  const { key } = await create();
  await expect(create()).rejects.toMatchObject(full);
  await expect(rotateKey(keys, { organizationId, id: key.id, graceMs: 0 }, by)).rejects.toMatchObject(full);
  await store.directory.changeKey(organizationId, key.id, 'revoke', { ...by, at: 9000 });
  await create();
  const left = (await store.directory.listKeys(organizationId)).filter(({ revokedAt }) => revokedAt !== null);
  expect(left).toHaveLength(revokedKeysMax);
  expect(left.map(({ id }) => id)).not.toContain('r0');
  expect(left.map(({ id }) => id)).toContain(key.id);
});

test('an organization with as many projects as it can have gets one more only for a deleted one', async () => {
  const store = await openNew();
  const create = () => createProject(issuing(store), { id: undefined, organizationId, name: 'another' }, by);
  for (const at of numbers(projectsMax)) await store.directory.createProject(projectOf(`p${at}`), by);
  await expect(create()).rejects.toMatchObject(full);
  await store.directory.deleteProject(organizationId, 'p7', by);
  await create();
  await expect(create()).rejects.toMatchObject(full);
});

test('members and open invitations have one limit, and an invitation may replace another', async () => {
  const store = await openNew();
  const invite = (email: string, at = by.at) =>
    inviteMember(issuing(store), { organizationId, email, role: 'viewer', projects: [] }, { ...by, at });
  const half = membersMax / 2;
  for (const at of numbers(half)) await store.directory.addMember(memberOf(`m${at}@example.org`), by);
  for (const at of numbers(half)) {
    const invitation = invitationOf(`i${at}`, `g${at}@example.org`, 'viewer', {
      expiresAt: at === 0 ? 2000 : 9000,
    });
    await store.directory.createInvitation(invitation, { ...by, at: 1000 });
  }
  await expect(invite('late@example.org', 1500)).rejects.toMatchObject(full);
  await invite('g7@example.org', 1500);
  await invite('late@example.org', 2500);
  await expect(invite('later@example.org', 2500)).rejects.toMatchObject(full);
});
