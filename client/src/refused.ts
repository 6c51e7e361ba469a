import type { CallerStatsError } from './errors.js';
import type { QueuedQuery } from './query.js';

/**
 * The queries of a batch that an error says the server will never take, each with its words. Empty where the error does
 * not say which; the only one there is it is about in any case.
 */
export function refusedOf(
  batch: readonly QueuedQuery[],
  { details, message }: CallerStatsError,
): ReadonlyMap<QueuedQuery, string> {
  const refused = new Map<QueuedQuery, string>();
  for (const detail of details) {
    const query = batch[Number(/^queries\[(\d+)\]/.exec(detail)?.[1])];
    if (query) refused.set(query, detail);
  }
  const [only, ...others] = batch;
  if (only && others.length === 0 && refused.size === 0) refused.set(only, message);
  return refused;
}
