/** Bounds what a person has any number of, so that a list of it is whole: nobody hides one among many. */
import type { DBAdapter, Where } from 'better-auth';
import { openingsMax } from '../domain/limits.js';

/** Those that one addition removes at most: more than it adds. */
const removedMax = 100;

/** Removes all but the newest `openingsMax` of these rows, and not `added`. Those of sessions are as new as their last use. */
export async function keepNewest(
  adapter: Pick<DBAdapter, 'findMany' | 'deleteMany'>,
  model: 'session' | 'verification',
  where: readonly Where[],
  added: { readonly id: string },
): Promise<void> {
  const older = await adapter.findMany<{ readonly id: string }>({
    ...{ model, where: [...where], sortBy: { field: 'updatedAt', direction: 'desc' } },
    ...{ limit: removedMax, offset: openingsMax },
  });
  const ids = older.map(({ id }) => id).filter((id) => id !== added.id);
  if (ids.length > 0)
    await adapter.deleteMany({ model, where: [{ field: 'id', operator: 'in', value: ids }] });
}
