/**
 * How figures are shown: as a table on the terminal and as a section of `results.md`. Every section says of itself
 * where and how it was measured, because one benchmark can be run alone and then replaces only its own section.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describeMachine } from './machine.js';
import { median, quantile } from './statistics.js';

/** One line of figures: a value for each round. */
export interface Figure {
  readonly what: string;
  readonly values: readonly number[];
  /** Nothing for a ratio. */
  readonly unit?: string;
  readonly atLeast?: number;
  readonly atMost?: number;
  /** At most so far from nothing, on either side. */
  readonly within?: number;
}

/** What a benchmark found. */
export interface Report {
  readonly name: string;
  /** What was measured against what, in a sentence or two. */
  readonly method: string;
  readonly ratios: readonly Figure[];
  /** The same rounds in absolute numbers, which hold for this machine only. */
  readonly absolutes: readonly Figure[];
}

/** As 1e6. */
export function asPower(size: number): string {
  return size.toExponential().replace('+', '');
}

/** Without what this machine could not tell: where there is no /proc, processor time and memory are no numbers. */
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

Written by \`npm run bench\`; do not edit. Compare the ratios: both sides of each were measured in the same run, in turn.
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

/** Padded, as the formatter of this repository wants Markdown. */
function markdownTable(figures: readonly Figure[]): string[] {
  const [header = [], ...rows] = padded(tableOf(figures));
  const rule = header.map((cell) => '-'.repeat(cell.length));
  return [header, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
}

/** The same as plain columns. */
export function toText({ name, ratios, absolutes }: Report): string {
  const tables = [ratios, absolutes].map((figures) =>
    padded(tableOf(figures))
      .map((cells) => cells.join('  ').trimEnd())
      .join('\n'),
  );
  return `\n${name}\n\n${tables.join('\n\n')}\n`;
}

/** Every cell as wide as the widest of its column. */
function padded(rows: readonly (readonly string[])[]): string[][] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)));
}

function tableOf(figures: readonly Figure[]): string[][] {
  const header = ['what', 'aim', 'median', 'middle half', 'min..max', 'rounds'];
  const rows = figures.map((figure) => {
    const { what, unit, values } = figure;
    const range = (from: number, to: number): string =>
      `${format(quantile(values, from))}..${format(quantile(values, to))}`;
    const middle = `${format(median(values))}${unit === undefined ? '' : ` ${unit}`}`;
    return [what, aimOf(figure), middle, range(0.25, 0.75), range(0, 1), String(values.length)];
  });
  return [header, ...rows];
}

function aimOf({ atLeast, atMost, within, values }: Figure): string {
  const middle = median(values);
  if (atLeast !== undefined) return `>= ${atLeast}, ${middle >= atLeast ? 'met' : 'missed'}`;
  if (atMost !== undefined) return `<= ${atMost}, ${middle <= atMost ? 'met' : 'missed'}`;
  if (within !== undefined)
    return `within ${format(within)}, ${Math.abs(middle) <= within ? 'met' : 'missed'}`;
  return '';
}

/** Three significant digits, but no digit before the point dropped. */
function format(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
