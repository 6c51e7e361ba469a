import type { ApiKey } from '../../domain/keys/api-key.js';
import type { Actor } from '../../domain/people/audit.js';
import { generateId } from '../../domain/projects/project.js';
import type { KeyChange } from '../../storage/ports/store.js';
import { createUnlessTaken, type Side, type Tally } from './side.js';

/**
 * Copies an organization's keys. A key is the same on both sides where its hash is, whatever its id: the first admin
 * key has the same id in every store, and is another key in each. What is there already gets what became of it since.
 */
export async function copyKeys(
  organizationId: string,
  keys: readonly ApiKey[],
  to: Side,
  { by, randomInt }: { readonly by: Actor; readonly randomInt: (max: number) => number },
): Promise<Tally> {
  const tally: Tally = { copied: 0, present: 0 };
  const before = await keysByHash(organizationId, to);
  // First those that are there, whenever they were made: a rotation of one makes its successor.
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
      !(await createUnlessTaken(() => to.ask((store) => store.createKey(key, by))))
    ) {
      // Its id is taken, or another copy that runs now has just made it.
      there = await keysByHash(organizationId, to);
      if (!there.has(key.hash)) {
        await to.ask((store) => store.createKey({ ...key, id: generateId(randomInt) }, by));
      }
    }
    tally.copied++;
  }
  return tally;
}

async function keysByHash(organizationId: string, to: Side): Promise<Map<string, ApiKey>> {
  const keys = await to.ask((store) => store.listKeys(organizationId));
  return new Map(keys.map((key) => [key.hash, key]));
}

/**
 * A key that is revoked on either side stays revoked, the later of its last uses holds, and what else became of it is
 * done again; a rotation makes the successor.
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
    to.ask((store) => store.changeKey(organizationId, id, what, { ...by, at }));
  const { lastUsedAt, expiresAt } = key;
  if (lastUsedAt !== null && lastUsedAt > (there.lastUsedAt ?? Number.NEGATIVE_INFINITY)) {
    await to.ask((store) => store.touchKey(id, lastUsedAt));
  }
  const rotated =
    successor !== undefined && expiresAt !== null && there.successorId === null && there.revokedAt === null;
  if (rotated) await to.ask((store) => store.rotateKey(organizationId, id, successor, expiresAt, by));
  if (key.disabledAt !== null) await change('disable', key.disabledAt);
  else if (there.disabledAt !== null) await change('enable', by.at);
  if (key.revokedAt !== null) await change('revoke', key.revokedAt);
}
