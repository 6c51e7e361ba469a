/** Timestamps in the formats of other systems' exports. */
import { failure, quote, type Result, success } from '../result.js';
import { parseFractionMs, parseTimestamp, YEAR_10000_MS } from './date-time.js';
import { secondMs } from './duration.js';
import { listMoments, type TimeZone } from './time-zone.js';

/**
 * `rfc3339` is the format of recorded queries. `utc` also accepts what databases write: a space instead of `T`, an offset
 * of hours only, `UTC`, or no offset, which means UTC. `s` and `ms` are seconds and milliseconds since 1970-01-01T00:00:00Z.
 */
export const TIME_FORMATS = ['rfc3339', 'utc', 's', 'ms'] as const;

export type TimeFormat = (typeof TIME_FORMATS)[number];

/** The year 5138 in seconds, March 1973 in milliseconds: no assistant was asked at either. */
const unitBoundary = 100_000_000_000;

/** The clock by which times without an offset were written. Remembers whether it showed one of them twice. */
export class LocalClock {
  readonly zone: TimeZone;
  /** Such a time; undefined if there was none. */
  shownTwice: string | undefined;

  constructor(zone: TimeZone) {
    this.zone = zone;
  }

  /** The moment of a local time, in milliseconds as if it were UTC; the earlier one of two. */
  toMoment(localMs: number, text: string): Result<number> {
    const [moment, later] = listMoments(localMs, this.zone);
    if (moment === undefined) {
      return failure(
        `${quote(text)} does not exist in ${this.zone}, whose clock was set forward then; is it another zone?`,
      );
    }
    if (later !== undefined) this.shownTwice ??= text;
    return success(moment);
  }
}

/**
 * Parses a time to milliseconds since 1970. Numbers may be text, as in CSV. Drops digits finer than a millisecond. With a
 * clock, times are read as in `utc`, but those without an offset are by the clock.
 */
export function parseTimeInFormat(value: unknown, format: TimeFormat, clock?: LocalClock): Result<number> {
  if (format === 's' || format === 'ms') return parseEpoch(value, format);
  if (typeof value === 'number') {
    return failure(
      `${value} is a number: seconds (s) or milliseconds (ms) since 1970? Say which with --time-format`,
    );
  }
  if (typeof value !== 'string') return failure('is not a string');
  const forms = { utc: toRfc3339, rfc3339: (text: string) => text };
  const time = parseTimestamp(forms[clock === undefined ? format : 'utc'](value));
  return time.ok && clock !== undefined && !hasOffset(value) ? clock.toMoment(time.value, value) : time;
}

function parseEpoch(value: unknown, unit: 's' | 'ms'): Result<number> {
  const text = typeof value === 'number' ? String(value) : value;
  const name = unit === 's' ? 'seconds' : 'milliseconds';
  const parts = typeof text === 'string' ? /^(\d{1,15})(?:\.(\d+))?$/.exec(text) : null;
  if (parts === null) {
    return failure(`${typeof text === 'string' ? quote(text) : 'it'} is not a number of ${name} since 1970`);
  }
  const [, whole, fraction = ''] = parts;
  const count = Number(whole);
  if (unit === 's' && count >= unitBoundary) {
    return failure(
      `${count} is too large for seconds since 1970; are these milliseconds (--time-format ms)?`,
    );
  }
  if (unit === 'ms' && count < unitBoundary) {
    return failure(`${count} is too small for milliseconds since 1970; are these seconds (--time-format s)?`);
  }
  if (count >= YEAR_10000_MS) return failure(`${count} milliseconds since 1970 lie after the year 9999`);
  return success(unit === 'ms' ? count : count * secondMs + parseFractionMs(fraction));
}

const databaseTime = /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d+)?) ?(UTC|[Zz]|[+-]\d\d(?::?\d\d)?)?$/;

function hasOffset(text: string): boolean {
  return databaseTime.exec(text)?.[3] !== undefined;
}

function toRfc3339(text: string): string {
  const [, date, time, offset = ''] = databaseTime.exec(text) ?? [];
  if (date === undefined) return text;
  return `${date}T${time}${toRfc3339Offset(offset)}`;
}

function toRfc3339Offset(offset: string): string {
  if (!/^[+-]/.test(offset)) return 'Z';
  return `${offset.slice(0, 3)}:${offset.slice(3).replace(':', '') || '00'}`;
}
