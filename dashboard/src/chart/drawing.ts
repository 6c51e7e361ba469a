/** What the chart consists of: paths, scale and labels. The page and the downloaded picture draw it. */
import type { CallerType, Interval } from '../api/types.js';
import { compact } from '../format/numbers.js';
import { chartLabels, type Label } from './labels.js';
import { type Bar, chooseScale, linePath, type Plot, plotArea, type Scale, stackedPaths } from './layout.js';

export interface Drawing {
  readonly plot: Plot;
  readonly scale: Scale;
  readonly paths: ReturnType<typeof stackedPaths>;
  readonly incompletePaths: ReturnType<typeof stackedPaths>;
  readonly line: string;
  readonly labels: readonly Label[];
}

export interface Drawn {
  readonly bars: readonly Bar[];
  /** The bars of the previous period in the same order, or null. */
  readonly before: readonly Bar[] | null;
  readonly types: readonly CallerType[];
  readonly interval: Interval;
  readonly zone: string;
}

type Size = { readonly width: number; readonly height: number };

export function draw({ bars, before, types, interval, zone }: Drawn, { width, height }: Size): Drawing {
  const totals = (before ?? []).slice(0, bars.length).map((bar) => sumTypes(bar, types));
  const scale = chooseScale([...bars.map((bar) => sumTypes(bar, types)), ...totals]);
  const longest = Math.max(...scale.ticks.map((tick) => compact(tick).length));
  const plot = plotArea(width, height, longest);
  const paths = (isPart: (bar: Bar) => boolean) =>
    width === 0 ? [] : stackedPaths(bars, types, scale.max, plot, isPart);
  return {
    plot,
    scale,
    paths: paths((bar) => bar.incomplete === undefined),
    incompletePaths: paths((bar) => bar.incomplete !== undefined),
    line: width === 0 ? '' : linePath(totals, bars.length, scale.max, plot),
    labels: width === 0 ? [] : chartLabels(bars, interval, zone, plot.width),
  };
}

/** The sum of some types in a bar. */
export function sumTypes(bar: Bar, types: readonly CallerType[]): number {
  return types.reduce((sum, type) => sum + bar[type], 0);
}
