/** Use cases of API keys, for the command line and the dashboard. An API key cannot be used to create keys. */
import { CallerStatsError } from '../domain/errors.js';
import { planRotation } from '../domain/keys/key-lifetime.js';
import { type CreatedKey, generateApiKey, type KeyRequest, parseKeyRequest } from '../domain/keys/new-key.js';
import { keysMax, revokedKeysMax } from '../domain/limits.js';
import type { Actor } from '../domain/people/audit.js';
import { requireRoom } from '../domain/projects/organization.js';
import type { Store } from '../storage/ports/store.js';

/** The store of the keys, and the settings of new ones. */
export interface KeyIssuing {
  readonly store: Store;
  /** The vendor prefix. */
  readonly keyPrefix: string;
  /** The longest life in milliseconds; null for no limit. */
  readonly keyLifeMax: number | null;
  readonly randomInt: (max: number) => number;
}

/** Creates a key. Throws `invalid` with a detail for each problem; each begins with its field. */
export async function createKey(
  { store, keyPrefix, keyLifeMax, randomInt }: KeyIssuing,
  organizationId: string,
  request: KeyRequest,
  by: Actor,
): Promise<CreatedKey> {
  const wanted = parseKeyRequest(request, { nowMs: by.at, lifeMsMax: keyLifeMax });
  if (!wanted.ok)
    throw new CallerStatsError('invalid', 'The request is invalid.', { details: wanted.problems });
  await requireKeyRoom(store, organizationId);
  const created = generateApiKey({ ...wanted.value, organizationId }, { vendor: keyPrefix, by, randomInt });
  await store.directory.createKey(created.key, by);
  return created;
}

/**
 * Creates a successor of a key. Returns it with the old key as it was before, and the time when that one stops working.
 * Throws `not_found` for an unknown key, `invalid` if the key cannot be rotated.
 */
export async function rotateKey(
  { store, keyPrefix, keyLifeMax, randomInt }: KeyIssuing,
  { organizationId, id, graceMs }: { organizationId: string; id: string; graceMs: number },
  by: Actor,
) {
  const old = await store.directory.findKey(organizationId, id);
  if (old === undefined) throw new CallerStatsError('not_found', `There is no key ${id}.`);
  const plan = planRotation(old, { nowMs: by.at, graceMs, lifeMsMax: keyLifeMax });
  if (!plan.ok) throw new CallerStatsError('invalid', `The key ${id} ${plan.problems.join('; ')}.`);
  await requireKeyRoom(store, organizationId);
  const successor = generateApiKey(plan.value.successor, { vendor: keyPrefix, by, randomInt });
  await store.directory.rotateKey(organizationId, id, successor.key, plan.value.expiresAt, by);
  return { old, oldExpiresAt: plan.value.expiresAt, successor };
}

/** Also deletes all revoked keys but the last `revokedKeysMax`. */
async function requireKeyRoom(
  { directory }: Pick<Store, 'directory'>,
  organizationId: string,
): Promise<void> {
  const keys = await directory.countKeys(organizationId);
  requireRoom(
    keys,
    keysMax,
    'keys that are not revoked',
    'Revoke those that nobody uses, or that have expired.',
  );
  await directory.pruneKeys(organizationId, revokedKeysMax);
}
