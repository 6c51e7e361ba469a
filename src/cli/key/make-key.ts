import {
  type ApiKey,
  defaultScopes,
  generateKey,
  hashKey,
  type KeyType,
  shownEnds,
} from '../../domain/api-key.js';
import type { Actor } from '../../domain/audit.js';
import type { Scope } from '../../domain/key-scope.js';
import { generateId } from '../../domain/project.js';
import type { Store } from '../../storage/store.js';
import type { Io } from '../io.js';

export interface NewKey {
  /** A new one where it is left out. */
  readonly id?: string;
  readonly organizationId: string;
  /** Null for an admin key. */
  readonly projectId: string | null;
  readonly type: KeyType;
  readonly name: string;
  readonly expiresAt: number | null;
  /** All that its type may, where they are left out. */
  readonly scopes?: readonly Scope[];
  /** From anywhere, where it is left out. */
  readonly allow?: readonly string[];
}

/** A key as it is kept, and the key itself: show that, this once. */
export interface MadeKey {
  readonly key: ApiKey;
  readonly secret: string;
}

export interface KeyMaker {
  /** The prefix of its keys. */
  readonly vendor: string;
  readonly by: Actor;
  readonly randomInt: Io['randomInt'];
}

/** Generates a key, and stores nothing. */
export function generateApiKey(
  wanted: NewKey,
  {
    vendor,
    by,
    randomInt,
  }: { readonly vendor: string; readonly by: Actor; readonly randomInt: Io['randomInt'] },
): MadeKey {
  const secret = generateKey(vendor, wanted.type, randomInt);
  const key: ApiKey = {
    id: generateId(randomInt),
    scopes: defaultScopes(wanted.type),
    allow: [],
    ...wanted,
    ...shownEnds(secret),
    hash: hashKey(secret),
    createdBy: by.name,
    createdAt: by.at,
    revokedAt: null,
    disabledAt: null,
    lastUsedAt: null,
    successorId: null,
  };
  return { key, secret };
}

/** Makes and stores a key. */
export async function makeKey(store: Store, wanted: NewKey, maker: KeyMaker): Promise<MadeKey> {
  const made = generateApiKey(wanted, maker);
  await store.createKey(made.key, maker.by);
  return made;
}
