/**
 * Time zones: which names there are, and how far ahead of UTC a zone's clock is, and when. The only file that asks a
 * library for it; it uses the platform's own data, and gives way to the platform's own `Temporal` where there is one.
 */
import { Temporal } from 'temporal-polyfill';
import { failure, quote, type Result, success } from '../result.js';

/** The name of a time zone, as `Europe/Berlin`: one that `parseTimeZone` took. */
export type TimeZone = string & { readonly brand: 'TimeZone' };

export const UTC = 'UTC' as TimeZone;

/** The shape of a name, as a regular expression's source. What has it may still be none. */
export const TIME_ZONE_PATTERN = '^[A-Za-z][A-Za-z0-9+_/-]*$';

const pattern = new RegExp(TIME_ZONE_PATTERN);

/** A time over which a zone's offset does not change: `from` is in, `to` is not. */
export interface OffsetPeriod {
  readonly from: number;
  readonly to: number;
  /** What the zone's clock shows, less UTC. Whole seconds; whole minutes only since the 20th century. */
  readonly offsetMs: number;
}

/** What Grafana calls UTC (its variable `$__timezone`); it spells all other zones as the database does. */
const GRAFANA_UTC = 'utc';

/**
 * A name of the IANA time zone database, links such as `Asia/Calcutta` included, spelled as it is there; `utc` is taken
 * for `UTC`. The problem is the end of a sentence that begins with what the name is the value of.
 */
export function parseTimeZone(name: string): Result<TimeZone> {
  if (name === '') return failure('is empty; leave it out or give the name of a time zone, as Europe/Berlin');
  if (name === GRAFANA_UTC) return success(UTC);
  const known = spelledRight(name);
  if (known === name) return success(name as TimeZone);
  const hint =
    known?.toLowerCase() === name.toLowerCase()
      ? `did you mean ${known}?`
      : 'there are such as Europe/Berlin, UTC';
  return failure(`${quote(name)} is not a time zone of the IANA database; ${hint}`);
}

/** The name as the database has it, whatever its case; undefined for what is none, an offset such as `+01:00` included. */
function spelledRight(name: string): string | undefined {
  if (!pattern.test(name)) return undefined;
  try {
    return at(0, name).timeZoneId;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The stretches of one offset that a range is made of, in order; none where it is empty. */
export function* listOffsetPeriods(
  zone: TimeZone,
  range: { readonly from: number; readonly to: number },
): Generator<OffsetPeriod> {
  let begin = range.from;
  while (begin < range.to) {
    const { to, offsetMs } = stretchAt(begin, zone);
    const end = Math.min(to, range.to);
    yield { from: begin, to: end, offsetMs };
    begin = end;
  }
}

/** Asking the library takes longer than counting does, and what it says of a zone stays true: by zone, in order of time. */
const known = new Map<TimeZone, OffsetPeriod[]>();
/** Of all zones together; then all are dropped. */
const knownMax = 1_000;
let knownNow = 0;

/** The stretch that a moment is in, from that moment or an earlier one on. The last of a zone has no end. */
function stretchAt(timeMs: number, zone: TimeZone): OffsetPeriod {
  if (knownNow >= knownMax) {
    known.clear();
    knownNow = 0;
  }
  const stretches = known.get(zone) ?? [];
  const next = firstEndingAfter(timeMs, stretches);
  const found = stretches[next];
  if (found !== undefined && found.from <= timeMs) return found;
  const moment = at(timeMs, zone);
  const to = moment.getTimeZoneTransition('next')?.epochMilliseconds ?? Number.POSITIVE_INFINITY;
  const stretch = { from: timeMs, to, offsetMs: moment.offsetNanoseconds / 1_000_000 };
  // Where a later part of the same stretch is known, this takes its place.
  const isSame = found?.to === to;
  stretches.splice(next, isSame ? 1 : 0, stretch);
  if (!isSame) knownNow++;
  known.set(zone, stretches);
  return stretch;
}

/** Its index, or where it would stand. */
function firstEndingAfter(timeMs: number, stretches: readonly OffsetPeriod[]): number {
  let [low, high] = [0, stretches.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((stretches[middle]?.to ?? 0) <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

function at(timeMs: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(timeMs).toZonedDateTimeISO(zone);
}
