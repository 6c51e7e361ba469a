/** How results look on a terminal. */
import type { Writable } from 'node:stream';

const grouped = new Intl.NumberFormat('en-US');

/** A count with its thousands grouped: 30,874. */
export function formatCount(count: number): string {
  return grouped.format(count);
}

/** A time as RFC 3339 in UTC; `otherwise` where there is none. */
export function formatTime(timeMs: number | null, otherwise = ''): string {
  return timeMs === null ? otherwise : new Date(timeMs).toISOString();
}

/** A count with its noun: 1 project, 2 projects. */
export function formatNumberOf(count: number, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : nouns}`;
}

export function printLine(to: Writable, line: string): void {
  to.write(`${line}\n`);
}

export function printJson(to: Writable, value: unknown): void {
  printLine(to, JSON.stringify(value, null, 2));
}

/** Columns under their titles: left-aligned, but for those named in `right`, as numbers are. */
export function printTable(
  to: Writable,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): void {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const aligned = (cell: string, column: number): string =>
    right.includes(titles[column] ?? '')
      ? cell.padStart(widths[column] ?? 0)
      : cell.padEnd(widths[column] ?? 0);
  for (const row of [titles, ...rows]) printLine(to, row.map(aligned).join('  ').trimEnd());
}
