/** Limits how many sessions, devices and applications a person has, so that lists show all of them. */
import type { DBAdapter, Where } from 'better-auth';
import { openingsMax } from '../domain/limits.js';

/** The most that one addition removes. */
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
