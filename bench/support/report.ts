/**
 * Prints figures as a table on the terminal and as a section of `results.md`. Every section states where and how it was
 * measured, because a benchmark that runs alone replaces only its own section.
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
  /** The maximum absolute value. */
  readonly within?: number;
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

Written by \`npm run bench\`; do not edit. Compare the ratios: both sides of each were measured in the same run, alternating.
`;

/** Replaces the report's section in \`results.md\` and leaves the others as they are. */
export function saveReport(report: Report, command: string): void {
  const old = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : '';
  const sections = old.split(/^(?=## )/m).filter((part) => part.startsWith('## '));
  const heading = `## ${report.name}\n`;
  const kept = sections.filter((section) => !section.startsWith(heading));
  const section = `${heading}\n${toMarkdown(report, command)}\n`;
  const text = [preamble, ...[...kept, section].sort()].join('\n').replace(/\n{3,}/g, '\n\n');
  writeFileSync(resultsFile, `${text.trimEnd()}\n`);
}

function toMarkdown({ method, ratios, absolutes }: Report, command: string): string {
  return [
    method,
    '',
    `Command: \`${command}\``,
    '',
    ...describeMachine().map((line) => `- ${line}`),
    '',
    ...markdownTable(ratios),
    '',
    ...markdownTable(absolutes),
    '',
  ].join('\n');
}

/** Padded, as the Markdown formatter wants it. */
function markdownTable(figures: readonly Figure[]): string[] {
  const [header = [], ...rows] = padded(toTable(figures));
  const rule = header.map((cell) => '-'.repeat(cell.length));
  return [header, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** As plain columns. */
export function toText({ name, ratios, absolutes }: Report): string {
  const tables = [ratios, absolutes].map((figures) =>
    padded(toTable(figures))
      .map((cells) => cells.join('  ').trimEnd())
      .join('\n'),
  );
  return `\n${name}\n\n${tables.join('\n\n')}\n`;
}

/** Pads every cell to the width of its column. */
function padded(rows: readonly (readonly string[])[]): string[][] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
}

function toTable(figures: readonly Figure[]): string[][] {
  const header = ['what', 'aim', 'median', 'middle half', 'min..max', 'rounds'];
  const rows = figures.map((figure) => {
    const { what, unit, values } = figure;
    const range = (from: number, to: number): string =>
      `${format(quantile(values, from))}..${format(quantile(values, to))}`;
    const middle = `${format(median(values))}${unit === undefined ? '' : ` ${unit}`}`;
    return [what, formatAim(figure), middle, range(0.25, 0.75), range(0, 1), String(values.length)];
  });
  return [header, ...rows];
}

function formatAim({ atLeast, atMost, within, values }: Figure): string {
  const middle = median(values);
  if (atLeast !== undefined) return `>= ${atLeast}, ${middle >= atLeast ? 'met' : 'missed'}`;
  if (atMost !== undefined) return `<= ${atMost}, ${middle <= atMost ? 'met' : 'missed'}`;
  if (within !== undefined)
    return `within ${format(within)}, ${Math.abs(middle) <= within ? 'met' : 'missed'}`;
  return '';
}

/** Three significant digits, but never fewer than the integer part. */
function format(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
