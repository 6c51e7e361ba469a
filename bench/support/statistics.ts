/** Statistics of a few rounds: median and quantiles. */

/** The quantile `share`, interpolated between neighbors. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) throw new RangeError('no values, no quantile');
  return below + (above - below) * (at - Math.floor(at));
}

/** The median, which a single slow round does not affect. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}
