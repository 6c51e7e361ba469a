/** Calendar days as `YYYY-MM-DD`, as date fields have them. They sort chronologically and know no zones. */

import { dayMs } from '../../../src/domain/time/duration.js';

export type Day = string;

/** Whether such a day exists. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  // `Date.parse` accepts 31 February as a day in March.
  return Number.isFinite(at) && dayOf(at) === text;
}

export function addDays(day: Day, days: number): Day {
  return dayOf(Date.parse(`${day}T00:00:00Z`) + days * dayMs);
}

/** The day in UTC. */
export function dayOf(at: number): Day {
  return new Date(at).toISOString().slice(0, 10);
}
