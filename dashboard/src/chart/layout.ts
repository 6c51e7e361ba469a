/** The geometry of the chart, in pixels. Pure functions, so that tests need no screen. */
import { nice, ticks } from 'd3-array';
import type { Bucket, CallerType, Interval } from '../api/types.js';

export interface Scale {
  readonly max: number;
  /** The values of the grid lines, from 0 up. */
  readonly ticks: readonly number[];
}

/** A scale of whole numbers that includes every value. */
export function chooseScale(values: readonly number[]): Scale {
  const highest = values.reduce((max, value) => Math.max(max, value), 1);
  const [, max] = nice(0, highest, 4);
  return { max, ticks: ticks(0, max, 4).filter(Number.isInteger) };
}

export interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** The area of the chart that contains the bars. */
export function plotArea(width: number, height: number, longestLabel: number): Plot {
  const left = Math.ceil(longestLabel * 7.2) + 12;
  return { left, top: 10, width: Math.max(0, width - left - 2), height: Math.max(0, height - 10 - 28) };
}

/** The position of a bar. Narrow bars touch, so that many of them read as one shape. */
export function barBand(
  index: number,
  bars: number,
  plot: Plot,
): { left: number; width: number; center: number } {
  const band = plot.width / bars;
  const width = band < 4 ? band : Math.min(band * 0.72, 56);
  const center = plot.left + band * (index + 0.5);
  return { left: center - width / 2, width, center };
}

/** The index of the bar at an x coordinate, or null outside the plot. */
export function indexAt(x: number, bars: number, plot: Plot): number | null {
  const index = Math.floor(((x - plot.left) / plot.width) * bars);
  return index >= 0 && index < bars ? index : null;
}

/** The SVG path of each visible type, stacked: of the bars that `isPart` selects. */
export function stackedPaths(
  bars: readonly Bucket[],
  shown: readonly CallerType[],
  max: number,
  plot: Plot,
  isPart: (bar: Bucket) => boolean = () => true,
): { readonly type: CallerType; readonly path: string }[] {
  const paths = new Map<CallerType, string[]>(shown.map((type) => [type, []]));
  const bottom = plot.top + plot.height;
  for (const [index, bar] of bars.entries()) {
    if (!isPart(bar)) continue;
    const { left, width } = barBand(index, bars.length, plot);
    let below = 0;
    for (const type of shown) {
      if (bar[type] === 0) continue;
      const y0 = bottom - (below / max) * plot.height;
      below += bar[type];
      const y1 = bottom - (below / max) * plot.height;
      // Every count above 0 stays visible, and a thin gap separates two types.
      const height = Math.max(y0 - y1 - (below > bar[type] ? 1 : 0), 1);
      paths.get(type)?.push(box(left, y1, width, height));
    }
  }
  return shown.map((type) => ({ type, path: (paths.get(type) ?? []).join('') }));
}

function box(x: number, y: number, width: number, height: number): string {
  return `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
}

/** The line of the previous period, through the centers of the bars. It is interrupted where a bar is compared with nothing. */
export function linePath(totals: readonly (number | null)[], max: number, plot: Plot): string {
  const parts: string[][] = [[]];
  for (const [index, total] of totals.entries()) {
    const { left, width, center } = barBand(index, totals.length, plot);
    const y = round(plot.top + plot.height * (1 - (total ?? 0) / max));
    const isAlone = (totals[index - 1] ?? null) === null && (totals[index + 1] ?? null) === null;
    if (total === null) parts.push([]);
    // A single point is drawn as a line across its bar.
    else if (isAlone) parts.push([`${round(left - 4)} ${y}h${round(width + 8)}`]);
    else parts.at(-1)?.push(`${round(center)} ${y}`);
  }
  return parts.flatMap((points) => (points.length === 0 ? [] : [`M${points.join('L')}`])).join('');
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Label distances that are easy to read. */
const STEPS: Readonly<Record<Interval, readonly number[]>> = {
  hour: [1, 2, 3, 4, 6, 12, 24, 48, 72, 168],
  day: [1, 2, 3, 7, 14, 28, 56],
  week: [1, 2, 4, 8, 13, 26, 52],
  month: [1, 2, 3, 6, 12, 24, 60, 120],
  quarter: [1, 2, 4, 8, 20, 40],
  year: [1, 2, 5, 10, 20, 50, 100],
};

/** The number of bars between two labels, so that labels do not overlap. */
export function labelStep(bars: number, interval: Interval, plotWidth: number, labelWidth: number): number {
  const fits = Math.max(1, Math.floor(plotWidth / labelWidth));
  const least = Math.ceil(bars / fits);
  return STEPS[interval].find((step) => step >= least) ?? least;
}
