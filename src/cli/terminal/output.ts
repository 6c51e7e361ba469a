/** Printing results. */
import type { Writable } from 'node:stream';
import { toPrintable } from '../../domain/format.js';

/** Prints a text as it is, but without control characters: see `toPrintable`. */
export function printText(to: Writable, text: string): void {
  to.write(toPrintable(text));
}

export function printLine(to: Writable, line: string): void {
  printText(to, `${line}\n`);
}

export function printJson(to: Writable, value: unknown): void {
  printLine(to, JSON.stringify(value, null, 2));
}

/** The lines of a table. The columns in `right` are right-aligned, for numbers; all others are left-aligned. */
export function formatTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  right: readonly string[] = [],
): string[] {
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const align = (cell: string, column: number): string =>
    right.includes(titles[column] ?? '')
      ? cell.padStart(widths[column] ?? 0)
      : cell.padEnd(widths[column] ?? 0);
  return [titles, ...rows].map((row) => row.map(align).join('  ').trimEnd());
}
