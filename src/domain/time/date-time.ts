/**
 * Parses dates and date-times to milliseconds since 1970-01-01T00:00:00Z. The grammar is RFC 3339, section 5.6, with the space
 * between date and time that a note there allows: many languages print times so. Bounds of ranges may also be a date, or leave out
 * offset or seconds. Digits finer than a millisecond are dropped, so recorded times and bounds round down alike.
 */
import { BoundedCache } from '../../shared/bounded-cache.js';
import { failure, quote, type Result, success } from '../result.js';
import { dayMs, eraMs, hourMs, minuteMs, secondMs } from './duration.js';

const DATE = '\\d{4}-\\d{2}-\\d{2}';
const OFFSET = '(?:[Zz]|[+-]\\d{2}:\\d{2})';

/** The pattern of a bound. A match may still be an impossible date such as February 30. */
export const BOUND_PATTERN = `^${DATE}(?:[Tt ]\\d{2}:\\d{2}(?::\\d{2}(?:\\.\\d+)?)?${OFFSET}?)?$`;

/** The pattern of a recorded time. */
export const TIMESTAMP_PATTERN = `^${DATE}[Tt ]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?${OFFSET}$`;

/** A bound, with a group for each part. */
const PARTS =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?([Zz]|[+-]\d{2}:\d{2})?)?$/;

/**
 * How most programs write a time, on a day that every month has. Reading it takes a third of the time of any other form, because
 * `Date.parse` needs no help with it (ECMA-262, "Date Time String Format").
 */
const USUAL =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;

/** A date-time whose `+` became a space in a URL. */
const PLUS_AS_SPACE = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}[\d:.]* \d{2}:?\d{2}$/;

/** 0000-01-01T00:00:00Z, the earliest time that RFC 3339 can write in UTC. */
export const YEAR_ZERO_MS = -62_167_219_200_000;

const monthNames =
  'January February March April May June July August September October November December'.split(' ');

/** 10000-01-01T00:00:00Z, the first time that is too late for RFC 3339 in UTC. */
export const YEAR_10000_MS = 253_402_300_800_000;

/** Converts a local time, in milliseconds as if it were UTC, to the moment that it means. */
type LocalClock = (localMs: number) => number;

/**
 * Parses the bound of a range: a date, which is the start of that day, or a date-time. Without an offset, both are by
 * `localClock`, by default in UTC. A problem completes a sentence that begins with the name of the field.
 */
export function parseBound(text: string, localClock?: LocalClock): Result<number> {
  const match = PARTS.exec(text);
  return match === null ? failure(boundShapeProblem(text)) : toTime(match, localClock);
}

/** Parses a recorded time. It must be complete, so that a local time is never mistaken for UTC. */
export function parseTimestamp(text: string): Result<number> {
  if (USUAL.test(text)) return success(Date.parse(text));
  const match = PARTS.exec(text);
  if (match === null) return failure(`${quote(text)} is not a date-time of RFC 3339; ${fullForm}`);
  const missing = missingPart(match);
  return missing === undefined ? toTime(match) : failure(`${quote(text)} has no ${missing}; ${fullForm}`);
}

const fullForm = 'send it in full, as 2026-01-31T23:59:59Z';

function missingPart([, , , , hour, , second, , offset]: RegExpExecArray): string | undefined {
  if (hour === undefined) return 'time';
  if (second === undefined) return 'seconds';
  return offset === undefined ? 'offset' : undefined;
}

/** The time of a match of `PARTS`. Missing parts are zero. */
function toTime(match: RegExpExecArray, localClock?: LocalClock): Result<number> {
  const [text, years, months, days, hours = 0, minutes = 0, seconds = 0, fraction = '', offset] = match;
  const [year, month, day] = [Number(years), Number(months), Number(days)];
  const [hour, minute, second] = [Number(hours), Number(minutes), Number(seconds)];
  const offsetMs = parseOffset(offset ?? 'Z');
  if (offsetMs === undefined) return failure(`${quote(text)} has an impossible offset, ${offset}`);
  const problem = dateProblem(year, month, day) ?? timeProblem(hour, minute, second);
  if (problem !== undefined) return failure(`${quote(text)} ${problem}`);

  const sinceMidnightMs = hour * hourMs + minute * minuteMs + second * secondMs + parseFractionMs(fraction);
  const localMs = startOfDay(year, month, day) + sinceMidnightMs;
  const timeMs = offset === undefined && localClock !== undefined ? localClock(localMs) : localMs - offsetMs;
  // RFC 3339, section 5.7: a leap second is the last second of a UTC day. The sum above counts it as the next second.
  if (second === 60 && (Math.floor(timeMs / secondMs) * secondMs) % dayMs !== 0) {
    return failure(`${quote(text)} has second 60, which exists only as a leap second, at 23:59:60 UTC`);
  }
  return success(timeMs);
}

/** The whole milliseconds of the digits after a decimal point. */
export function parseFractionMs(digits: string): number {
  return Number(digits.slice(0, 3).padEnd(3, '0'));
}

function startOfDay(year: number, month: number, day: number): number {
  // Date.UTC would read the years 0 to 99 as 1900 to 1999; the calendar is the same 400 years later.
  return Date.UTC(year + 400, month - 1, day) - eraMs;
}

function dateProblem(year: number, month: number, day: number): string | undefined {
  if (month < 1 || month > 12) return 'is not a date: months go from 01 to 12';
  if (day >= 1 && day <= 28) return undefined;
  const days = (startOfDay(year, month + 1, 1) - startOfDay(year, month, 1)) / dayMs;
  if (day < 1 || day > days)
    return `is not a date: ${monthNames[month - 1]} of that year has the days 01 to ${days}`;
  return undefined;
}

function timeProblem(hour: number, minute: number, second: number): string | undefined {
  if (hour > 23) return 'is not a time: hours go from 00 to 23';
  if (minute > 59) return 'is not a time: minutes go from 00 to 59';
  if (second > 60) return 'is not a time: seconds go from 00 to 59';
  return undefined;
}

/** Milliseconds ahead of UTC; undefined if impossible. */
function parseOffset(offset: string): number | undefined {
  // `Z` has no digits, so both are zero.
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith('-') ? -1 : 1) * (hours * hourMs + minutes * minuteMs);
}

function boundShapeProblem(text: string): string {
  if (text === '') return 'is empty; leave it out or give a date';
  if (PLUS_AS_SPACE.test(text)) {
    return `${quote(text)} has a space where its offset begins: a "+" in a URL means a space, send it as %2B`;
  }
  return `${quote(text)} is neither a date (2026-01-31) nor an ISO 8601 date-time (2026-01-31T23:59:59Z)`;
}

/**
 * Formats a time as RFC 3339 with milliseconds and an offset in whole minutes. The text always means exactly this time:
 * the seconds of 19th century offsets become part of the local time, and at both ends of the calendar, where the local
 * year could not be written, the offset changes instead.
 */
export function formatWithOffset(timeMs: number, offsetMs: number): string {
  const minutes = writableOffset(timeMs, Math.trunc(offsetMs / minuteMs));
  const clockMs = timeMs + minutes * minuteMs;
  const day = Math.floor(clockMs / dayMs);
  return `${formatDate(day)}T${formatTime(clockMs - day * dayMs)}${formatOffset(minutes)}`;
}

/** Series format the same days over and over, and formatting one costs as much as the rest of a bucket. */
const dates = new BoundedCache<number, string>(10_000);

function formatDate(day: number): string {
  return dates.getOrCreate(day, () => new Date(day * dayMs).toISOString().slice(0, 'YYYY-MM-DD'.length));
}

function formatTime(ms: number): string {
  return ms === 0 ? '00:00:00.000' : new Date(ms).toISOString().slice('YYYY-MM-DDT'.length, -'Z'.length);
}

function formatOffset(minutes: number): string {
  const ahead = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${twoDigits(Math.floor(ahead / 60))}:${twoDigits(ahead % 60)}`;
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}

const longestOffsetMinutes = 23 * 60 + 59;

function writableOffset(timeMs: number, minutes: number): number {
  const clockMs = timeMs + minutes * minuteMs;
  if (clockMs < YEAR_ZERO_MS) return longestOffsetMinutes;
  return clockMs < YEAR_10000_MS ? minutes : -longestOffsetMinutes;
}
