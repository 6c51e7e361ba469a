/** Reads counts from another server that has the operation caller-stats, day by day. */
import { addCounts, type TypeCounts } from '../../domain/counting/counts.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import type { ImportedCount } from '../../domain/counting/imported-count.js';
import { CallerStatsError } from '../../domain/errors.js';
import { formatTime } from '../../domain/format.js';
import { CALLER_TYPES } from '../../domain/queries/caller.js';
import { startOfDate, type TimeZone } from '../../domain/time/time-zone.js';
import type { Progress } from '../progress.js';

/** Returns what caller-stats of a project says of a range. */
export type ReadCallerStats = (range: DateRange) => Promise<unknown>;

export interface DaysPlan {
  /** Dates such as `2026-01-31` in the zone: the first day, and the one after the last. */
  readonly from: string;
  readonly to: string | undefined;
  readonly zone: TimeZone;
  readonly nowMs: number;
  readonly includeUnfinished: boolean;
}

/** The days of a plan in order; without `includeUnfinished`, those that are over. */
export function listDays({ from, to, zone, nowMs, includeUnfinished }: DaysPlan): DateRange[] {
  const end = to === undefined ? Number.POSITIVE_INFINITY : startOfDate(to, zone);
  const days: DateRange[] = [];
  for (let start = startOfDate(from, zone), number = 1; start < end && start <= nowMs; number++) {
    const next = startOfDate(from, zone, number);
    if (next > nowMs && !includeUnfinished) break;
    // A zone may skip a whole day.
    if (next > start) days.push({ from: start, to: next });
    start = next;
  }
  return days;
}

export interface DayCounting {
  readonly source: string;
  readonly otherCaller: string;
  /** Whether the last day may not be over. Its count may change between two requests. */
  readonly isGrowing: boolean;
}

/**
 * Reads the counts of the days, and checks that they add up to what the server says of all of them together. The types web
 * and api have one caller each; all of type other become the caller `otherCaller`.
 */
export async function readDays(
  days: readonly DateRange[],
  read: ReadCallerStats,
  { source, otherCaller, isGrowing }: DayCounting,
  progress: Progress,
): Promise<ImportedCount[]> {
  const all: TypeCounts[] = [];
  for (const day of days) {
    all.push(toTypeCounts(await read(day), day));
    progress.advance(1);
    progress.show(all.length);
  }
  if (!isGrowing) await requireSameSum(days, addCounts(all), read);
  return days.flatMap(({ from, to }, at) =>
    CALLER_TYPES.map((type) => ({
      source,
      caller: type === 'other' ? otherCaller : type,
      start: from,
      end: to,
      count: all[at]?.[type] ?? 0,
    })),
  );
}

/** Otherwise the server treats the bounds in another way, for example, counts the end of a range as a part of it. */
async function requireSameSum(
  days: readonly DateRange[],
  sum: TypeCounts,
  read: ReadCallerStats,
): Promise<void> {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return;
  const range = { from: first.from, to: last.to };
  const whole = toTypeCounts(await read(range), range);
  const different = CALLER_TYPES.filter((type) => whole[type] !== sum[type]);
  if (different.length === 0) return;
  const numbers = different.map((type) => `${type} ${sum[type]} and ${whole[type]}`).join(', ');
  throw new CallerStatsError(
    'invalid',
    `Nothing was imported: the days from ${formatTime(range.from)} to ${formatTime(range.to)} do not add up to what the ` +
      `server counts in all of them (${numbers}). If queries were recorded there meanwhile, try again.`,
  );
}

function toTypeCounts(answer: unknown, { from, to }: DateRange): TypeCounts {
  const { web, api, other, total } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  const counts = [web, api, other];
  const isCount = (one: unknown): one is number => Number.isSafeInteger(one) && Number(one) >= 0;
  if (counts.every(isCount)) {
    const [webCount = 0, apiCount = 0, otherCount = 0] = counts;
    if (total === webCount + apiCount + otherCount)
      return { web: webCount, api: apiCount, other: otherCount };
  }
  throw new CallerStatsError(
    'invalid',
    `Nothing was imported: for ${formatTime(from)} to ${formatTime(to)} the server answered ` +
      `${JSON.stringify(answer)?.slice(0, 200)}, which is not what caller-stats answers.`,
  );
}
