/** Names and offsets of time zones. The only file that uses the library for them, which reads the platform's own data. */
import { Temporal } from 'temporal-polyfill';
import { BoundedCache } from '../../shared/bounded-cache.js';
import { failure, quote, type Result, success } from '../result.js';
import { dayMs } from './duration.js';

/** A name that `parseTimeZone` accepted, such as `Europe/Berlin`. */
export type TimeZone = string & { readonly brand: 'TimeZone' };

export const UTC = 'UTC' as TimeZone;

/** The pattern of names. Not every match is a time zone. */
export const TIME_ZONE_PATTERN = '^[A-Za-z][A-Za-z0-9+_/-]*$';

const pattern = new RegExp(TIME_ZONE_PATTERN);

/** From one time up to, but not including, another, in milliseconds since 1970. */
interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** A period in which a zone's offset does not change. */
export interface OffsetPeriod extends TimeSpan {
  /** Local time minus UTC, in whole seconds; whole minutes only since the 20th century. */
  readonly offsetMs: number;
}

/** Parses a name of the IANA time zone database, in its exact spelling. Accepts links such as `Asia/Calcutta`, and `utc`. */
export function parseTimeZone(name: string): Result<TimeZone> {
  if (name === '') return failure('is empty; leave it out or give the name of a time zone, as Europe/Berlin');
  // Grafana's variable `$__timezone` says `utc`; it spells all other zones as the database does.
  if (name === 'utc' || name === UTC) return success(UTC);
  const known = isNameForm(name) ? exactNames.getOrCreate(name, () => findExactName(name)) : undefined;
  if (known === name) return success(name as TimeZone);
  const hint =
    known?.toLowerCase() === name.toLowerCase()
      ? `did you mean ${known}?`
      : 'use a name such as Europe/Berlin or UTC';
  return failure(`${quote(name)} is not a time zone of the IANA database; ${hint}`);
}

/** Finding a name takes longer than counting does. */
const exactNames = new BoundedCache<string, string | undefined>(1_000);

/** Longer than any name, and short enough to be cached. */
const nameCharactersMax = 64;

/** False for offsets such as `+01:00`, which the library would accept. */
function isNameForm(name: string): boolean {
  return name.length <= nameCharactersMax && pattern.test(name);
}

/** The name as the database spells it; undefined for anything else. */
function findExactName(name: string): string | undefined {
  try {
    return at(0, name).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
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

/** A cache of the periods of each zone, in order of time: asking the library takes longer than counting does. */
const cache = new Map<TimeZone, OffsetPeriod[]>();
/** Of all zones together. A full cache is cleared. */
const cachedPeriodsMax = 1_000;
let cachedPeriods = 0;

/** The period that contains a moment, from that moment or earlier. The last period of a zone has no end. */
function periodAt(timeMs: number, zone: TimeZone): OffsetPeriod {
  if (cachedPeriods >= cachedPeriodsMax) {
    cache.clear();
    cachedPeriods = 0;
  }
  const periods = cache.get(zone) ?? [];
  const next = firstEndingAfter(timeMs, periods);
  const found = periods[next];
  if (found !== undefined && found.from <= timeMs) return found;
  const moment = at(timeMs, zone);
  const to = moment.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  const period = { from: timeMs, to, offsetMs: moment.offsetNanoseconds / 1_000_000 };
  // Replaces a cached later part of the same period.
  const isSame = found?.to === to;
  periods.splice(next, isSame ? 1 : 0, period);
  if (!isSame) cachedPeriods++;
  cache.set(zone, periods);
  return period;
}

function firstEndingAfter(timeMs: number, periods: readonly OffsetPeriod[]): number {
  let [low, high] = [0, periods.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((periods[middle]?.to ?? 0) <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function at(timeMs: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(zone);
}
