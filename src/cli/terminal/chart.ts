/** Bars for a terminal: one a line, stacked by type of caller. */
import { styleText } from 'node:util';
import type { Counts } from '../../domain/counting/counts.js';
import { chartBarsMax } from '../../domain/limits.js';
import { CALLER_TYPES, type CallerType } from '../../domain/queries/caller.js';
import { formatCount, formatNumberOf } from './output.js';

export interface Bar {
  readonly label: string;
  readonly counts: Counts;
}

export interface Chart {
  readonly bars: readonly Bar[];
  /** Which bars go where there are more than `chartBarsMax`. */
  readonly leaveOut: 'first' | 'last';
  /** A line about those that went: how many, and how many queries they stand for. */
  readonly rest: (bars: string, queries: string) => string;
}

export interface ChartOptions {
  /** Characters that fit on a line. */
  readonly columns: number;
  readonly colors: boolean;
}

/** Told apart without colours, too. */
const LOOKS = {
  web: { mark: '█', color: 'blue' },
  api: { mark: '▓', color: 'yellow' },
  other: { mark: '░', color: 'green' },
} as const;

/** Narrower than this nothing can be told; the lines are then longer than the terminal is wide. */
const columnsMin = 40;

/**
 * The chart's lines: what the marks mean, then a bar each. A bar is as long as its total is of the largest one's, which
 * fills the line. No line is longer than `columns`, from 40 on.
 */
export function chartLines({ bars, leaveOut, rest }: Chart, { columns, colors }: ChartOptions): string[] {
  if (bars.length === 0) return ['no queries'];
  const over = Math.max(0, bars.length - chartBarsMax);
  const drawn = leaveOut === 'first' ? bars.slice(over) : bars.slice(0, chartBarsMax);
  const gone = leaveOut === 'first' ? bars.slice(0, over) : bars.slice(chartBarsMax);
  const width = Math.max(columns, columnsMin);
  const labels = drawn.map(({ label }) => shortened(label, Math.floor(width / 2)));
  const totals = drawn.map(({ counts }) => formatCount(counts.total));
  const labelWidth = widest(labels);
  const totalWidth = widest(totals);
  const barWidth = width - labelWidth - totalWidth - 4;
  const most = Math.max(...drawn.map(({ counts }) => counts.total));
  const lines = drawn.map(({ counts }, at) => {
    const bar = marksOf(counts, most, barWidth).map(([type, marks]) => painted(type, marks, colors));
    return `${labels[at]?.padEnd(labelWidth)}  ${totals[at]?.padStart(totalWidth)}  ${bar.join('')}`.trimEnd();
  });
  const queries = gone.reduce((sum, { counts }) => sum + counts.total, 0);
  const note = rest(formatCount(gone.length), formatNumberOf(queries, 'query', 'queries'));
  return [legend(colors), ...(over > 0 && leaveOut === 'first' ? [note] : []), ...lines].concat(
    over > 0 && leaveOut === 'last' ? [note] : [],
  );
}

/**
 * How many marks each type gets. The edges between them are rounded, so that together they are the bar. Where the bar has
 * room, each type that has a count gets a mark.
 */
function marksOf(counts: Counts, most: number, width: number): [CallerType, number][] {
  if (counts.total === 0) return [];
  const length = Math.max(1, Math.round((counts.total / most) * width));
  const present = CALLER_TYPES.filter((type) => counts[type] > 0);
  const atLeast = present.length <= length ? 1 : 0;
  let sum = 0;
  let drawn = 0;
  return present.map((type, at) => {
    sum += counts[type];
    const edge = Math.max(Math.round((sum / counts.total) * length), drawn + atLeast);
    const end = Math.min(edge, length - (present.length - 1 - at) * atLeast);
    const marks = end - drawn;
    drawn = end;
    return [type, marks];
  });
}

function legend(colors: boolean): string {
  return CALLER_TYPES.map((type) => `${painted(type, 1, colors)} ${type}`).join('  ');
}

function painted(type: CallerType, length: number, colors: boolean): string {
  const { mark, color } = LOOKS[type];
  const marks = mark.repeat(length);
  // Whether stdout takes colours was asked already, of what is really written to.
  return colors && length > 0 ? styleText(color, marks, { validateStream: false }) : marks;
}

function shortened(label: string, length: number): string {
  return label.length > length ? `${label.slice(0, length - 1)}…` : label;
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}
