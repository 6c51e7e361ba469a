import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ApiKey } from '../../src/domain/api-key.js';
import { DEFAULT_ORGANIZATION_ID, type Project } from '../../src/domain/project.js';
import { openSqliteStore } from '../../src/storage/sqlite/store.js';
import type { Store } from '../../src/storage/store.js';
import { temporaryFolder } from './temporary.js';

/** A place where one store lives, for a test that opens it more than once. */
export interface Place {
  /** What messages call this kind of store. */
  readonly kind: string;
  /** Another handle on the same store; closed when the test is over. */
  readonly open: () => Promise<Store>;
}

/** Makes an empty place. What every kind of store hands to the conformance suite and the laws. */
export type PlaceFactory = () => Promise<Place>;

export const sqlitePlace: PlaceFactory = async () => {
  const file = join(await temporaryFolder(), 'store.db');
  return {
    kind: 'sqlite',
    open: async () => {
      const store = await openSqliteStore(file);
      onTestFinished(() => store.close());
      return store;
    },
  };
};

/** Every kind of store there is; the conformance suite and the laws run on each. */
export const placeFactories: readonly (readonly [kind: string, factory: PlaceFactory])[] = [
  ['sqlite', sqlitePlace],
];

export function projectOf(id: string, more: Partial<Project> = {}): Project {
  return { id, organizationId: DEFAULT_ORGANIZATION_ID, name: id, createdAt: 1000, ...more };
}

export function keyOf(id: string, more: Partial<ApiKey> = {}): ApiKey {
  return {
    id,
    organizationId: DEFAULT_ORGANIZATION_ID,
    projectId: null,
    type: 'admin',
    name: `key ${id}`,
    hash: `hash of ${id}`,
    start: 'cs_admin_abcd',
    end: 'wxyz',
    createdBy: 'a test',
    createdAt: 1000,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    ...more,
  };
}
