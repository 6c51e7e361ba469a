/** Generations of copies: the newest one of each of the last days, weeks and months that have one. */
import { failure, quote, type Result, success } from '../result.js';
import { dayMs } from './duration.js';

/** How many days, weeks (from Monday) and months in UTC keep a copy. */
export type Generations = Readonly<Record<Unit, number>>;

const UNITS = ['d', 'w', 'm'] as const;

type Unit = (typeof UNITS)[number];

/** The first of January 1970 was a Thursday. */
const daysToMonday = 3;

/** What has the same number is of the same day, week or month. */
const NUMBER_OF: Readonly<Record<Unit, (timeMs: number) => number>> = {
  d: (timeMs) => Math.floor(timeMs / dayMs),
  w: (timeMs) => Math.floor((Math.floor(timeMs / dayMs) + daysToMonday) / 7),
  m: (timeMs) => new Date(timeMs).getUTCFullYear() * 12 + new Date(timeMs).getUTCMonth(),
};

/** Parses `7d,4w,12m`: each unit at most once. */
export function parseGenerations(text: string): Result<Generations> {
  const found = text.split(',').map((one) => /^([1-9]\d{0,3})([dwm])$/.exec(one.trim()));
  const units = found.map((one) => one?.[2]);
  if (found.includes(null) || new Set(units).size < units.length)
    return failure(`${quote(text)} is not a list such as 7d,4w,12m, of days, weeks and months`);
  const numberOf = (unit: Unit) => Number(found.find((one) => one?.[2] === unit)?.[1] ?? 0);
  return success({ d: numberOf('d'), w: numberOf('w'), m: numberOf('m') });
}

/** The times of the copies to keep. The newest is always one of them. */
export function findKept(timesMs: readonly number[], generations: Generations): Set<number> {
  const newestFirst = timesMs.toSorted((a, b) => b - a);
  const kept = new Set(newestFirst.slice(0, 1));
  for (const unit of UNITS) {
    const newest = new Map<number, number>();
    for (const timeMs of newestFirst) {
      const number = NUMBER_OF[unit](timeMs);
      if (!newest.has(number)) newest.set(number, timeMs);
    }
    for (const timeMs of [...newest.values()].slice(0, generations[unit])) kept.add(timeMs);
  }
  return kept;
}
