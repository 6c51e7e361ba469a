/** What the chart consists of: paths, scale and labels. The page and the downloaded picture draw it. */
import type { Bucket, CallerType, Counts, Interval } from '../api/types.js';
import { compact } from '../format/numbers.js';
import { chartLabels, type Label } from './labels.js';
import { chooseScale, linePath, type Plot, plotArea, type Scale, stackedPaths } from './layout.js';

export interface Drawing {
  readonly plot: Plot;
  readonly scale: Scale;
  readonly paths: ReturnType<typeof stackedPaths>;
  readonly incompletePaths: ReturnType<typeof stackedPaths>;
  /** What the bars are compared with; empty if they are not. */
  readonly line: string;
  readonly labels: readonly Label[];
}

export interface Drawn {
  readonly bars: readonly Bucket[];
  /** Whether to draw what each bar is compared with. */
  readonly isCompared: boolean;
  readonly types: readonly CallerType[];
  readonly interval: Interval;
}

type Size = { readonly width: number; readonly height: number };

export function draw({ bars, isCompared, types, interval }: Drawn, { width, height }: Size): Drawing {
  const before = isCompared ? bars.map(({ previous }) => (previous ? sumTypes(previous, types) : null)) : [];
  const scale = chooseScale([...bars.map((bar) => sumTypes(bar, types)), ...before.map((sum) => sum ?? 0)]);
  const longest = Math.max(...scale.ticks.map((tick) => compact(tick).length));
  const plot = plotArea(width, height, longest);
  const paths = (isPart: (bar: Bucket) => boolean) =>
    width === 0 ? [] : stackedPaths(bars, types, scale.max, plot, isPart);
  return {
    plot,
    scale,
    paths: paths((bar) => bar.incomplete === undefined),
    incompletePaths: paths((bar) => bar.incomplete !== undefined),
    line: width === 0 ? '' : linePath(before, scale.max, plot),
    labels: width === 0 ? [] : chartLabels(bars, interval, plot.width),
  };
}

/** The sum of some types. */
export function sumTypes(counts: Counts, types: readonly CallerType[]): number {
  return types.reduce((sum, type) => sum + counts[type], 0);
}
