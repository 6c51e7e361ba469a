/** Calendar days as `YYYY-MM-DD` and arithmetic on them. They sort chronologically and know no zones. */

const DAY_MS = 86_400_000;

export type Day = string;

/** Parses a day; undefined if it does not exist. */
export function toDay(text: string): Day | undefined {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  // `Date.parse` accepts 31 February as a day in March.
  return Number.isFinite(at) && dayOfUtc(at) === text ? text : undefined;
}

export function addDays(day: Day, days: number): Day {
  return dayOfUtc(dayToUtc(day) + days * DAY_MS);
}

/** The same day of another month, or the last day of a shorter month. */
export function addMonths(day: Day, months: number): Day {
  const first = new Date(dayToUtc(firstOfMonth(day)));
  first.setUTCMonth(first.getUTCMonth() + months);
  const last = new Date(first);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  first.setUTCDate(Math.min(Number(day.slice(8)), last.getUTCDate()));
  return dayOfUtc(first.getTime());
}

export function firstOfMonth(day: Day): Day {
  return `${day.slice(0, 8)}01`;
}

export function firstOfYear(day: Day): Day {
  return `${day.slice(0, 5)}01-01`;
}

/** The number of days between two days; negative if `to` comes first. */
export function daysBetween(from: Day, to: Day): number {
  return (dayToUtc(to) - dayToUtc(from)) / DAY_MS;
}

/** Midnight of the day in UTC, in milliseconds since 1970. */
export function dayToUtc(day: Day): number {
  return Date.parse(`${day}T00:00:00Z`);
}

function dayOfUtc(at: number): Day {
  return new Date(at).toISOString().slice(0, 10);
}
