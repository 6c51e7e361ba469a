/** A time in an answer: RFC 3339 in UTC with milliseconds. */
export function toTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

export function toTimeOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toTime(timeMs);
}
