import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Actor } from '../../domain/people/audit.js';
import { generateId } from '../../domain/random-text.js';
import type { KeyChange } from '../../storage/ports/store.js';
import { createUnlessTaken, type Side, type Tally } from './side.js';

/**
 * Copies an organization's keys and updates those that exist already. Keys are compared by hash instead of id, because the
 * first admin key has the same id in every store.
 */
export async function copyKeys(
  organizationId: string,
  keys: readonly ApiKey[],
  to: Side,
  { by, randomInt }: { readonly by: Actor; readonly randomInt: (max: number) => number },
): Promise<Tally> {
  const tally: Tally = { copied: 0, present: 0 };
  const before = await keysByHash(organizationId, to);
  // Existing keys first, because rotating one creates its successor.
  for (const key of keys) {
    const same = before.get(key.hash);
    if (same === undefined) continue;
    const successor = keys.find(({ id, hash }) => id === key.successorId && !before.has(hash));
    await bringUpToDate(same, key, successor, to, by);
    tally.present++;
  }
  let there = await keysByHash(organizationId, to);
  for (const key of keys.filter(({ hash }) => !before.has(hash))) {
    if (
      !there.has(key.hash) &&
      !(await createUnlessTaken(() => to.ask((store) => store.directory.createKey(key, by))))
    ) {
      // Another key has its id, or a concurrent copy has just created it.
      there = await keysByHash(organizationId, to);
      if (!there.has(key.hash)) {
        await to.ask((store) => store.directory.createKey({ ...key, id: generateId(randomInt) }, by));
      }
    }
    tally.copied++;
  }
  return tally;
}

async function keysByHash(organizationId: string, to: Side): Promise<Map<string, ApiKey>> {
  const keys = await to.ask((store) => store.directory.listKeys(organizationId));
  return new Map(keys.map((key) => [key.hash, key]));
}

/**
 * Applies the changes of the source's key. A key that is revoked on either side stays revoked, and the later of the last
 * uses wins. A rotation creates the successor.
 */
async function bringUpToDate(
  there: ApiKey,
  key: ApiKey,
  successor: ApiKey | undefined,
  to: Side,
  by: Actor,
): Promise<void> {
  const { organizationId, id } = there;
  const change = (what: KeyChange, at: number) =>
    to.ask((store) => store.directory.changeKey(organizationId, id, what, { ...by, at }));
  const { lastUsedAt, expiresAt } = key;
  if (lastUsedAt !== null && lastUsedAt > (there.lastUsedAt ?? Number.NEGATIVE_INFINITY)) {
    await to.ask((store) => store.directory.touchKey(id, lastUsedAt));
  }
  const rotated =
    successor !== undefined && expiresAt !== null && there.successorId === null && there.revokedAt === null;
  if (rotated)
    await to.ask((store) => store.directory.rotateKey(organizationId, id, successor, expiresAt, by));
  if (key.disabledAt !== null) await change('disable', key.disabledAt);
  else if (there.disabledAt !== null) await change('enable', by.at);
  if (key.revokedAt !== null) await change('revoke', key.revokedAt);
}
