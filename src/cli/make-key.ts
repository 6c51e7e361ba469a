import { type ApiKey, generateKey, hashKey, type KeyType, shownEnds } from '../domain/api-key.js';
import { generateId } from '../domain/project.js';
import type { Store } from '../storage/store.js';
import type { Io } from './io.js';

export interface NewKey {
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

/** Makes and stores a key. `secret` is the key itself: show it, this once. */
export async function makeKey(
  store: Store,
  { vendor, ...rest }: NewKey,
  io: Pick<Io, 'randomInt'>,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = generateKey(vendor, rest.type, io.randomInt);
  const key: ApiKey = {
    ...rest,
    ...shownEnds(secret),
    id: generateId(io.randomInt),
    hash: hashKey(secret),
    createdBy: 'command line',
    revokedAt: null,
    lastUsedAt: null,
  };
  await store.createKey(key);
  return { key, secret };
}
