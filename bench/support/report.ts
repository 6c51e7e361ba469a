/**
 * Prints figures as a table on the terminal, and writes the ratios to `results.md`. Every row says where and when it was
 * measured, because a benchmark that runs alone replaces only its own rows.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describeMachine } from './machine.js';
import { median, quantile } from './statistics.js';

/** One line of figures: a value per round. */
export interface Figure {
  readonly what: string;
  readonly values: readonly number[];
  /** Empty for a ratio. */
  readonly unit?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** The results of a benchmark. */
export interface Report {
  readonly name: string;
  /** What was compared with what, in a sentence or two. */
  readonly method: string;
  readonly ratios: readonly Figure[];
  /** The same rounds in absolute numbers, valid only for this machine. */
  readonly absolutes: readonly Figure[];
}

/** As 1e6. */
export function asPower(size: number): string {
  return size.toExponential().replace('+', '');
}

/** Removes figures that this machine cannot measure: without /proc, processor time and memory are NaN. */
export function measured(report: Report): Report {
  const isMeasured = ({ values }: Figure): boolean => values.length > 0 && values.every(Number.isFinite);
  return {
    ...report,
    ratios: report.ratios.filter(isMeasured),
    absolutes: report.absolutes.filter(isMeasured),
  };
}

const resultsFile = new URL('../results.md', import.meta.url);

const preamble = `# Results of the benchmarks

Written by \`npm run bench\`; do not edit. Each row is a ratio of two sides that were measured in the same run, alternating. The
command prints absolute figures as well.
`;

const HEADER = ['command', 'what', 'aim', 'median', 'middle half', 'rounds', 'measured'];

/** Replaces the ratios of the command in \`results.md\` and leaves the others as they are. */
export function saveReport({ name, ratios }: Report, options: string): void {
  const old = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : '';
  const mark = `| \`npm run bench -- ${name}`;
  const kept = old.split('\n').filter((line) => line.startsWith('| `') && !line.startsWith(mark));
  const { processor, date } = describeMachine();
  const measuredOn = `${date}, ${processor}`;
  const rows = ratios.map((figure) => {
    const [what = '', aim = '', middle = '', half = '', , rounds = ''] = cellsOf(figure);
    const command = `\`npm run bench -- ${name}${options}\``;
    return `| ${[command, what, aim, middle, half, rounds, measuredOn].join(' | ')} |`;
  });
  const table = [`| ${HEADER.join(' | ')} |`, `| ${HEADER.map(() => '---').join(' | ')} |`];
  // Stable, so the rows of a command keep their order.
  const all = [...kept, ...rows].toSorted((a, b) => commandIn(a).localeCompare(commandIn(b)));
  writeFileSync(resultsFile, `${[preamble, ...table, ...all].join('\n')}\n`);
}

const commandIn = (row: string): string => row.split(' | ')[0] ?? '';

/** As plain columns. */
export function toText({ name, method, ratios, absolutes }: Report): string {
  const tables = [ratios, absolutes].map((figures) =>
    padded(toTable(figures))
      .map((cells) => cells.join('  ').trimEnd())
      .join('\n'),
  );
  return `\n${name}: ${method}\n\n${tables.join('\n\n')}\n`;
}

/** Pads every cell to the width of its column. */
function padded(rows: readonly (readonly string[])[]): string[][] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
}

function toTable(figures: readonly Figure[]): string[][] {
  const header = ['what', 'aim', 'median', 'middle half', 'min..max', 'rounds'];
  return [header, ...figures.map(cellsOf)];
}

function cellsOf(figure: Figure): string[] {
  const { what, unit, values } = figure;
  const range = (from: number, to: number): string =>
    `${format(quantile(values, from))}..${format(quantile(values, to))}`;
  const middle = `${format(median(values))}${unit === undefined ? '' : ` ${unit}`}`;
  return [what, formatAim(figure), middle, range(0.25, 0.75), range(0, 1), String(values.length)];
}

function formatAim({ atLeast, atMost, values }: Figure): string {
  const middle = median(values);
  if (atLeast !== undefined) return `>= ${atLeast}, ${middle >= atLeast ? 'met' : 'missed'}`;
  if (atMost !== undefined) return `<= ${atMost}, ${middle <= atMost ? 'met' : 'missed'}`;
  return '';
}

/** Three significant digits, but never fewer than the integer part. */
function format(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
