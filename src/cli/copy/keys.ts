import type { ApiKey } from '../../domain/api-key.js';
import { generateId } from '../../domain/project.js';
import type { Io } from '../io.js';
import { createUnlessTaken, type Tally } from './create.js';
import type { Side } from './side.js';

/**
 * Copies an organization's keys. A key is the same on both sides where its hash is, whatever its id: the first admin
 * key has the same id in every store, and is another key in each. What is there already gets what became of it since.
 */
export async function copyKeys(
  organizationId: string,
  keys: readonly ApiKey[],
  to: Side,
  { randomInt }: Pick<Io, 'randomInt'>,
): Promise<Tally> {
  const tally: Tally = { copied: 0, present: 0 };
  let there = await keysByHash(organizationId, to);
  for (const key of keys) {
    if (!there.has(key.hash)) {
      if (await createKey(key, to)) {
        tally.copied++;
        continue;
      }
      // Its id is taken, or another copy that runs now has just made it.
      there = await keysByHash(organizationId, to);
    }
    const same = there.get(key.hash);
    if (same === undefined) {
      await to.ask((store) => store.createKey({ ...key, id: generateId(randomInt) }));
      tally.copied++;
    } else {
      await bringUpToDate(same, key, to);
      tally.present++;
    }
  }
  return tally;
}

function createKey(key: ApiKey, to: Side): Promise<boolean> {
  return createUnlessTaken(() => to.ask((store) => store.createKey(key)));
}

async function keysByHash(organizationId: string, to: Side): Promise<Map<string, ApiKey>> {
  const keys = await to.ask((store) => store.listKeys(organizationId));
  return new Map(keys.map((key) => [key.hash, key]));
}

/** A key that is revoked on either side stays revoked, and the later of its last uses holds. */
async function bringUpToDate(there: ApiKey, { revokedAt, lastUsedAt }: ApiKey, to: Side): Promise<void> {
  if (revokedAt !== null && there.revokedAt === null) {
    await to.ask((store) => store.revokeKey(there.organizationId, there.id, revokedAt));
  }
  if (lastUsedAt !== null && lastUsedAt > (there.lastUsedAt ?? Number.NEGATIVE_INFINITY)) {
    await to.ask((store) => store.touchKey(there.id, lastUsedAt));
  }
}
