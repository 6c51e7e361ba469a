import type { CallerCount, TypeCounts } from '../../domain/counting/counts.js';
import { formatCount, formatQuantity } from '../../domain/format.js';
import { CALLER_TYPES } from '../../domain/queries/caller.js';
import type { CopiedProject } from './run.js';

/** Callers that a message names. */
const namedMax = 10;

/**
 * Describes how a project differs between source and target; undefined if it does not.
 *
 * The target has recorded every query that was read, or had its id already, and has every imported count. So if as many
 * queries were read as the source counts, the target has all of them; if both then count the same, it has no others.
 */
export function difference({
  id,
  source,
  target,
  recorded,
  duplicates,
  importedQueries,
  withdrawn,
  correctedMeanwhile,
  callers,
}: CopiedProject): string | undefined {
  if (correctedMeanwhile) return `${id}: the source was corrected meanwhile; run it again`;
  const read = recorded + duplicates - withdrawn + importedQueries;
  if (source.total > read) {
    return `${id}: ${formatQuantity(source.total - read, 'query', 'queries')} arrived at the source meanwhile; run it again`;
  }
  if (source.total < read || target.total < source.total) {
    const fewer = source.total < read ? 'source' : 'target';
    return `${id}: the ${fewer} counts fewer queries than it has; run caller-stats verify on it`;
  }
  if (target.total > source.total) {
    const more = formatQuantity(target.total - source.total, 'query', 'queries');
    return `${id}: the target has every query of the source, and ${more} that others recorded there (${byType(source, target)})`;
  }
  const changed = byCaller(callers.source, callers.target);
  const named = [...changed.slice(0, namedMax), ...(changed.length > namedMax ? ['…'] : [])].join(', ');
  return changed.length > 0
    ? `${id}: the target has the ids of the source, some of them with another caller (${named})`
    : undefined;
}

/** The differences by type of caller. */
function byType(source: TypeCounts, target: TypeCounts): string {
  return CALLER_TYPES.flatMap((type) => change(type, target[type] - source[type])).join(', ');
}

/** The differences by caller. */
function byCaller(source: readonly CallerCount[], target: readonly CallerCount[]): string[] {
  const more = new Map<string, number>();
  for (const { caller, count } of target) more.set(caller, count);
  for (const { caller, count } of source) more.set(caller, (more.get(caller) ?? 0) - count);
  return [...more].flatMap(([caller, count]) => change(caller, count));
}

function change(name: string, more: number): string[] {
  return more === 0 ? [] : [`${name} ${more > 0 ? '+' : '−'}${formatCount(Math.abs(more))}`];
}
