/** How numbers, times and foreign texts are written for people. */

/** Made on first use: the first object of `Intl` takes 10 ms. */
let grouped: Intl.NumberFormat | undefined;

/** A count with its thousands grouped: 30,874. */
export function formatCount(count: number): string {
  grouped ??= new Intl.NumberFormat('en-US');
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

/**
 * A text without the control characters with which a server or a name could command the reader's terminal, and without those
 * that reorder what stands around them. Line breaks and tabs stay.
 */
export function toPrintable(text: string): string {
  return text.replaceAll(/(?!\r\n|[\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '\u{fffd}');
}
