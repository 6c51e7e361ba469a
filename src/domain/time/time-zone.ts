/** Names and offsets of time zones, by the data that are part of the program: those of Node may be older. */
import { failure, quote, type Result, success } from '../result.js';
import { suggestNearMiss } from '../suggest.js';
import { dayMs } from './duration.js';
import { ZONE_DATA_VERSION } from './zone-data.js';
import { findZoneName, listZoneNames, type OffsetUntil, periodAt } from './zone-rules.js';

/** The release of the rules that count, and where they are from, for people. */
export const ZONE_DATA_ORIGIN = `IANA time zone database ${ZONE_DATA_VERSION}, which is part of caller-stats`;

/** A name that `parseTimeZone` accepted, such as `Europe/Berlin`. */
export type TimeZone = string & { readonly brand: 'TimeZone' };

export const UTC = 'UTC' as TimeZone;

/** The pattern of names. Not every match is a time zone. */
export const TIME_ZONE_PATTERN = '^[A-Za-z][A-Za-z0-9+_/-]*$';

/** From one time up to, but not including, another, in milliseconds since 1970. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** A period in which a zone's offset does not change. */
export type OffsetPeriod = TimeSpan & OffsetUntil;

/** Parses a name of the IANA time zone database, in its exact spelling. Accepts links such as `Asia/Calcutta`, and `utc`. */
export function parseTimeZone(name: string): Result<TimeZone> {
  if (name === '') return failure('is empty; leave it out or give the name of a time zone, as Europe/Berlin');
  // Grafana's variable `$__timezone` says `utc`; it spells all other zones as the database does.
  if (name === 'utc' || name === UTC) return success(UTC);
  const known = findZoneName(name);
  if (known === name) return success(name as TimeZone);
  const isName = new RegExp(TIME_ZONE_PATTERN).test(name);
  const meant = known ?? (isName ? suggestNearMiss(name, listZoneNames()) : undefined);
  const hint = meant === undefined ? 'use a name such as Europe/Berlin or UTC' : `did you mean ${meant}?`;
  return failure(`${quote(name)} is not a time zone of the IANA database; ${hint}`);
}

/** The zones that users select from, by name: not the older names that some have. */
export function listTimeZones(): readonly TimeZone[] {
  return listZoneNames() as TimeZone[];
}

/** The first moment of a valid date such as `2026-01-31` in the zone, or of the day that is so many days later. */
export function startOfDate(date: string, zone: TimeZone, daysLater = 0): number {
  return fromLocal(Date.parse(date) + daysLater * dayMs, zone);
}

/** More than any offset from UTC, and than any clock was ever set back (a day, in Alaska in 1867). */
export const clockChangeMsMax = 2 * dayMs;

/**
 * The first moment at which the zone's clock shows this local time, in milliseconds as if it were UTC, or a later one. So of
 * a time that occurs twice, it is the earlier; of a time that a clock change skips, the moment of the change; and a later
 * local time is never an earlier moment.
 */
export function fromLocal(localMs: number, zone: TimeZone): number {
  if (zone === UTC) return localMs;
  const around = { from: localMs - clockChangeMsMax, to: localMs + clockChangeMsMax };
  for (const { from, to, offsetMs } of listOffsetPeriods(zone, around)) {
    const timeMs = Math.max(from, localMs - offsetMs);
    if (timeMs < to) return timeMs;
  }
  throw new Error(`the clock of ${zone} never shows ${localMs}`);
}

/** The moments at which the zone's clock shows this local time: none if a clock change skips it, two if one repeats it. */
export function listMoments(localMs: number, zone: TimeZone): number[] {
  const around = { from: localMs - clockChangeMsMax, to: localMs + clockChangeMsMax };
  return [...listOffsetPeriods(zone, around)].flatMap(({ from, to, offsetMs }) => {
    const timeMs = localMs - offsetMs;
    return from <= timeMs && timeMs < to ? [timeMs] : [];
  });
}

/**
 * The local time of a moment, in milliseconds as if it were UTC. Of the first moment of a day, the midnight, even if a clock
 * change skips it.
 */
export function toLocal(timeMs: number, zone: TimeZone): number {
  const localMs = timeMs + offsetAt(timeMs, zone);
  const midnightMs = Math.floor(localMs / dayMs) * dayMs;
  return fromLocal(midnightMs, zone) === timeMs ? midnightMs : localMs;
}

/** Local time minus UTC in milliseconds at a moment. */
export function offsetAt(timeMs: number, zone: TimeZone): number {
  return zone === UTC ? 0 : periodAt(timeMs, zone).offsetMs;
}

/** The periods of constant offset in a range, in order. */
export function* listOffsetPeriods(zone: TimeZone, range: TimeSpan): Generator<OffsetPeriod> {
  let begin = range.from;
  while (begin < range.to) {
    const { to, offsetMs } = periodAt(begin, zone);
    const end = Math.min(to, range.to);
    yield { from: begin, to: end, offsetMs };
    begin = end;
  }
}
