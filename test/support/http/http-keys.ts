/** Projects and keys for the HTTP tests. */
import { randomInt } from 'node:crypto';
import {
  type ApiKey,
  defaultScopes,
  generateKey,
  hashKey,
  type KeyType,
  visibleEnds,
} from '../../../src/domain/keys/api-key.js';
import type { Store } from '../../../src/storage/ports/store.js';
import { projectOf } from '../storage/store.js';

/** The time at which a test begins. */
export const startMs = Date.parse('2026-06-15T12:00:00Z');

const createdAt = startMs - 1000;
const by = { name: 'a test', address: null, at: createdAt };

/** The keys of every test. All but the unknown ones are stored. `docs` and `blog` belong to one organization. */
const KEYS = {
  admin: { type: 'admin' },
  recording: { type: 'recording', projectId: 'docs' },
  recordingBlog: { type: 'recording', projectId: 'blog' },
  expired: { type: 'admin', expiresAt: startMs },
  revoked: { type: 'admin', revokedAt: startMs - 1 },
  disabled: { type: 'admin', disabledAt: startMs - 1 },
  rivalAdmin: { type: 'admin', organizationId: 'rival' },
  unknown: { type: 'admin' },
  unknownRecording: { type: 'recording', projectId: 'docs' },
  unknownReading: { type: 'reading', projectId: 'docs' },
} as const satisfies Record<string, KeyRequest>;

export type KeyName = keyof typeof KEYS;

/** The fields of a key that a test sets; the others have defaults. */
export type KeyRequest = Partial<ApiKey> & { readonly type: KeyType };

export async function addProjectsAndKeys(store: Store): Promise<Record<KeyName, string>> {
  await store.directory.createOrganization({ id: 'rival', name: 'Rival', createdAt }, by);
  const projects = { docs: 'default', blog: 'default', 'rival-docs': 'rival' };
  await Promise.all(
    Object.entries(projects).map(([id, organizationId]) =>
      store.directory.createProject(projectOf(id, { organizationId, createdAt }), by),
    ),
  );
  const made = Object.entries(KEYS).map(([name, wish]) => ({ name, ...newKey(name, wish) }));
  await Promise.all(
    made
      .filter(({ name }) => !name.startsWith('unknown'))
      .map(({ key }) => store.directory.createKey(key, by)),
  );
  return Object.fromEntries(made.map(({ name, secret }) => [name, secret])) as Record<KeyName, string>;
}

/** Stores a key with this id and returns its secret. */
export async function addKey(store: Store, id: string, wish: KeyRequest): Promise<string> {
  const { secret, key } = newKey(id, wish);
  await store.directory.createKey(key, by);
  return secret;
}

/** Generates a key without storing it. */
export function newKey(id: string, wish: KeyRequest): { readonly secret: string; readonly key: ApiKey } {
  const secret = generateKey('cs', wish.type, randomInt);
  const key: ApiKey = {
    id,
    organizationId: 'default',
    projectId: null,
    name: id,
    hash: hashKey(secret),
    ...visibleEnds(secret),
    createdBy: 'test',
    createdAt,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    disabledAt: null,
    scopes: defaultScopes(wish.type),
    allow: [],
    successorId: null,
    ...wish,
  };
  return { secret, key };
}
