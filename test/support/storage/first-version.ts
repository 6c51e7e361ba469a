/** What a database of schema version 1 had in it, and what is to be found there once it is brought up to date. */
import { expect } from 'vitest';
import { ALL_TIME } from '../../../src/domain/counting/date-range.js';
import type { ApiKey } from '../../../src/domain/keys/api-key.js';
import { DEFAULT_ORGANIZATION_ID } from '../../../src/domain/projects/project.js';
import type { Query } from '../../../src/domain/queries/query.js';
import { dayMs } from '../../../src/domain/time/duration.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { by, keyOf, projectOf } from './store.js';

export const firstVersionProjects = [
  projectOf('docs', { name: 'Ä 📚' }),
  projectOf('theirs', { organizationId: 'rival', createdAt: 2000 }),
];

/** Of both types and in every state that there was. */
export const firstVersionKeys: readonly ApiKey[] = [
  keyOf('admin', { lastUsedAt: 1500 }),
  keyOf('expired', { createdAt: 1001, expiresAt: 3000 }),
  keyOf('recording', {
    createdAt: 1002,
    type: 'recording',
    projectId: 'docs',
    expiresAt: 9_999_999_999_999,
    scopes: ['write'],
  }),
  keyOf('revoked', {
    createdAt: 1003,
    type: 'recording',
    projectId: 'docs',
    revokedAt: 2000,
    scopes: ['write'],
  }),
  keyOf('their', { createdAt: 1004, organizationId: 'rival' }),
];

/** The columns that a key had, and the values of one in their order. */
export const firstVersionKeyColumns =
  'id, organization_id, project_id, type, name, hash, start, "end", created_by, created_at, expires_at, revoked_at, last_used_at';

export function firstVersionKeyValues(key: ApiKey): (string | number | null)[] {
  const { id, organizationId, projectId, type, name, hash, start, end, createdBy } = key;
  const times = [key.createdAt, key.expiresAt, key.revokedAt, key.lastUsedAt];
  return [id, organizationId, projectId, type, name, hash, start, end, createdBy, ...times];
}

/** In the project `docs`. */
export const firstVersionQueries: readonly Query[] = [
  { id: 'a', caller: 'web', occurredAt: 1_767_225_600_000 },
  { id: 'b', caller: 'api', occurredAt: -1 },
  { id: 'c', caller: 'web', occurredAt: 1_767_225_600_001 },
  { id: 'd', caller: 'slack', occurredAt: -1 },
  { id: 'e', caller: 'slack', occurredAt: -dayMs },
  { id: 'f', caller: 'zed', occurredAt: 1_767_225_600_001 },
];

/** Everything is there as it was, with what is new about it, and what is new works. */
export async function expectUpToDate(store: Store): Promise<void> {
  expect((await store.listOrganizations()).map(({ id }) => id)).toEqual([DEFAULT_ORGANIZATION_ID, 'rival']);
  for (const organizationId of [DEFAULT_ORGANIZATION_ID, 'rival']) {
    const own = <T extends { readonly organizationId: string }>(all: readonly T[]) =>
      all.filter((one) => one.organizationId === organizationId);
    expect(await store.listProjects(organizationId)).toEqual(own(firstVersionProjects));
    expect(await store.listKeys(organizationId)).toEqual(own(firstVersionKeys));
    expect(await store.listMembers(organizationId)).toEqual([]);
    expect(await store.readAudit(organizationId, { limit: 10 })).toEqual([]);
  }
  for (const key of firstVersionKeys) {
    expect((await store.findAccess(key.hash, 'docs'))?.key).toEqual(key);
  }
  expect(await store.count('docs', ALL_TIME)).toEqual({ web: 2, api: 1, other: 3, total: 6 });
  expect(await store.countCallers('docs', { from: -dayMs, to: 0 })).toEqual({
    total: 3,
    callers: [
      { caller: 'slack', type: 'other', count: 2 },
      { caller: 'api', type: 'api', count: 1 },
    ],
  });
  expect(await store.record('docs', firstVersionQueries)).toEqual({ recorded: 0, duplicates: 6 });
  expect(await store.verify()).toMatchObject({ projects: 2, queries: 6, damage: [], differencesTotal: 0 });
  await store.changeKey(DEFAULT_ORGANIZATION_ID, 'recording', 'disable', { ...by, at: 5000 });
  await store.rotateKey(DEFAULT_ORGANIZATION_ID, 'admin', keyOf('next', { createdAt: 6000 }), 7000, by);
  await store.addMember({ organizationId: 'rival', email: 'a@example.org', role: 'owner', createdAt: 1 }, by);
  expect(await store.listKeys(DEFAULT_ORGANIZATION_ID)).toMatchObject([
    { id: 'admin', expiresAt: 7000, successorId: 'next' },
    { id: 'expired' },
    { id: 'recording', disabledAt: 5000 },
    { id: 'revoked' },
    { id: 'next' },
  ]);
  expect(await store.readAudit(DEFAULT_ORGANIZATION_ID, { limit: 10 })).toMatchObject([
    { action: 'key.rotate', targetId: 'admin' },
    { action: 'key.disable', targetId: 'recording' },
  ]);
}
