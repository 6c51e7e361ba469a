import { type ApiKey, generateKey, hashKey, type KeyType, shownEnds } from '../domain/api-key.js';
import { generateId } from '../domain/project.js';
import type { Store } from '../storage/store.js';
import type { Io } from './io.js';

export interface NewKey {
  /** A new one where it is left out. */
  readonly id?: string;
  readonly organizationId: string;
  /** Null for an admin key. */
  readonly projectId: string | null;
  readonly type: KeyType;
  readonly name: string;
  readonly expiresAt: number | null;
  readonly vendor: string;
  /** Now, in milliseconds since 1970. */
  readonly createdAt: number;
}

export interface MadeKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/** Makes and stores a key. `secret` is the key itself: show it, this once. */
export async function makeKey(store: Store, options: NewKey, io: Pick<Io, 'randomInt'>): Promise<MadeKey> {
  const made = generateNewKey(options, io);
  await store.createKey(made.key);
  return made;
}

/** Makes a key, to be stored by the caller. */
export function generateNewKey({ vendor, ...rest }: NewKey, io: Pick<Io, 'randomInt'>): MadeKey {
  const secret = generateKey(vendor, rest.type, io.randomInt);
  const key: ApiKey = {
    id: generateId(io.randomInt),
    ...rest,
    ...shownEnds(secret),
    hash: hashKey(secret),
    createdBy: 'command line',
    revokedAt: null,
    lastUsedAt: null,
  };
  return { key, secret };
}
