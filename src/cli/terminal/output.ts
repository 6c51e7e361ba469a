/** Printing results. */
import type { Writable } from 'node:stream';

export function printLine(to: Writable, line: string): void {
  to.write(`${line}\n`);
}

export function printJson(to: Writable, value: unknown): void {
  printLine(to, JSON.stringify(value, null, 2));
}

/** Prints columns under their titles. Those in `right` are right-aligned, for numbers; all others are left-aligned. */
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
