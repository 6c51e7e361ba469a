import type { TypeCounts } from '../../domain/counting/counts.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { CALLER_TYPES } from '../../domain/queries/caller.js';
import type { CopiedProject } from './run.js';

/**
 * What keeps a project from being the same on both sides, in words; undefined where it is.
 *
 * The target answered for each query that was read: it has recorded it, or had its id already. So where as many were
 * read as the source now counts, the target has every query of the source, and where the two then count the same, it
 * has no other.
 */
export function difference({ id, source, target, recorded, duplicates }: CopiedProject): string | undefined {
  const read = recorded + duplicates;
  if (source.total > read) {
    return `${id}: ${formatQuantity(source.total - read, 'query', 'queries')} arrived at the source meanwhile; run it again`;
  }
  if (source.total < read || target.total < source.total) {
    const fewer = source.total < read ? 'source' : 'target';
    return `${id}: the ${fewer} counts fewer queries than it has; run caller-stats verify on it`;
  }
  if (target.total > source.total) {
    const more = formatQuantity(target.total - source.total, 'query', 'queries');
    return `${id}: the target has every query of the source, and ${more} that somebody else recorded there (${byType(source, target)})`;
  }
  return CALLER_TYPES.some((type) => source[type] !== target[type])
    ? `${id}: the target has the ids of the source, some of them with another caller (${byType(source, target)})`
    : undefined;
}

/** What the target has beyond the source. */
function byType(source: TypeCounts, target: TypeCounts): string {
  return CALLER_TYPES.filter((type) => source[type] !== target[type])
    .map((type) => {
      const more = target[type] - source[type];
      return `${type} ${more > 0 ? '+' : '−'}${formatCount(Math.abs(more))}`;
    })
    .join(', ');
}
