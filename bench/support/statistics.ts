/** What a handful of rounds says: the middle, and how far the rounds lay apart. */

/** The value below which `share` of the values lie, between neighbours where it falls between two. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) throw new RangeError('no values, no quantile');
  return below + (above - below) * (at - Math.floor(at));
}

/** The middle value: one slow round, as another program causes, does not move it. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
