/** How numbers and times are written for people. */

const grouped = new Intl.NumberFormat('en-US');

/** A count with its thousands grouped: 30,874. */
export function formatCount(count: number): string {
  return grouped.format(count);
}

/** A count with its noun: 1 project, 2 projects. */
export function formatQuantity(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** A time as RFC 3339 in UTC; `otherwise` for null. */
export function formatTime(timeMs: number | null, otherwise = ''): string {
  return timeMs === null ? otherwise : new Date(timeMs).toISOString();
}
