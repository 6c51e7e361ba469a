/** What a check finds: whether there is something to report, and what the message says. */
import { findBeginning } from '../counting/beginning.js';
import type { CallerCount, CallerCounts, Counts } from '../counting/counts.js';
import { type DateRange, EARLIEST_MS } from '../counting/date-range.js';
import { formatTime } from '../format.js';
import type { WeekStart } from '../time/calendar.js';
import { dayMs, hourMs } from '../time/duration.js';
import type { Notification } from './notification.js';
import { digestRanges, hourRanges, silenceCheckAt } from './schedule.js';

/** What a message says, by its type. */
export interface Notices {
  readonly digest: {
    readonly range: DateRange;
    readonly counts: Counts;
    readonly previous: Counts;
    /** Start of the range of `previous`. */
    readonly comparedFrom: number;
    /** The time of the first query; null without queries. */
    readonly recordingBegan: number | null;
  };
  readonly silence: { readonly range: DateRange; readonly lastAt: number | null };
  readonly silence_end: { readonly range: DateRange; readonly counts: Counts };
  readonly spike: { readonly range: DateRange; readonly counts: Counts; readonly usual: number };
  readonly drop: Notices['spike'];
  readonly threshold: { readonly range: DateRange; readonly counts: Counts };
  readonly new_caller: {
    readonly range: DateRange;
    readonly counts: Counts;
    /** Those whose first query occurred in the range, most first. */
    readonly callers: readonly CallerCount[];
  };
}

export type Notice<Type extends keyof Notices = keyof Notices> = {
  readonly [Key in Type]: { readonly type: Key } & Notices[Key];
}[Type];

interface Finding {
  /** Names what happened, the same on every node: a notification reports each occurrence once. */
  readonly occurrence: string;
  readonly notice: Notice;
}

export interface Evaluation {
  readonly incidentAt: number | null;
  readonly finding: Finding | null;
}

/** Reads what an evaluation needs. */
export interface CountReader {
  /** The project's own. */
  readonly weekStart: WeekStart | null;
  readonly count: (range: DateRange) => Promise<Counts>;
  readonly countCallers: (range: DateRange) => Promise<CallerCounts>;
  readonly findExtent: () => Promise<DateRange | undefined>;
}

/** Checks a notification at a time. */
export function evaluate(
  notification: Notification,
  nowMs: number,
  reader: CountReader,
): Promise<Evaluation> {
  return EVALUATIONS[notification.kind](notification, nowMs, reader);
}

const weekMs = 7 * dayMs;

const EVALUATIONS: Readonly<Record<Notification['kind'], typeof evaluate>> = {
  digest: async (notification, nowMs, reader) => {
    const { count, findExtent } = reader;
    const { range, previous } = digestRanges(notification, reader.weekStart, nowMs);
    const findBegan = async () => findBeginning(await findExtent(), count);
    const [counts, before, began] = await Promise.all([count(range), count(previous), findBegan()]);
    const compared = { comparedFrom: previous.from, recordingBegan: began };
    const notice = { type: 'digest', range, counts, previous: before, ...compared } as const;
    const occurrence = `${notification.period} from ${formatTime(range.from)}`;
    return { incidentAt: null, finding: { occurrence, notice } };
  },

  silence: async ({ hours, incidentAt }, nowMs, { count, findExtent }) => {
    const at = silenceCheckAt(nowMs);
    const range = { from: at - (hours ?? 0) * hourMs, to: at };
    const isSilent = (await count(range)).total === 0;
    if (isSilent === (incidentAt !== null)) return { incidentAt, finding: null };
    if (isSilent) {
      const last = (await findExtent())?.to;
      // Queries may be dated a little ahead: those are not the last before the silence.
      const lastAt = last === undefined || last > range.from ? null : last - 1;
      const notice = { type: 'silence', range, lastAt } as const;
      return { incidentAt: at, finding: { occurrence: `silence at ${formatTime(at)}`, notice } };
    }
    // A clock that was ahead may have found it later than now.
    const since = { from: incidentAt === null || incidentAt > at ? range.from : incidentAt, to: at };
    const notice = { type: 'silence_end', range: since, counts: await count(since) } as const;
    return {
      incidentAt: null,
      finding: { occurrence: `end of silence at ${formatTime(incidentAt)}`, notice },
    };
  },

  spike: ofHour(async ({ factor, minimum }, { hour, compared }, reader) => {
    const usual = await findUsual(compared, reader);
    if (usual === undefined) return undefined;
    const counts = await reader.count(hour);
    const isSpike = counts.total >= (minimum ?? 1) && counts.total >= (factor ?? 1) * usual;
    return isSpike ? { type: 'spike', range: hour, counts, usual } : undefined;
  }),

  drop: ofHour(async ({ factor, minimum }, { hour, compared }, reader) => {
    const usual = await findUsual(compared, reader);
    if (usual === undefined || usual < (minimum ?? 1)) return undefined;
    const counts = await reader.count(hour);
    return counts.total * (factor ?? 1) <= usual ? { type: 'drop', range: hour, counts, usual } : undefined;
  }),

  threshold: ofHour(async ({ minimum }, { hour }, { count }) => {
    const counts = await count(hour);
    return counts.total >= (minimum ?? 1) ? { type: 'threshold', range: hour, counts } : undefined;
  }),

  new_caller: async (notification, nowMs, reader) => {
    const { hour } = hourRanges(notification.timeZone, nowMs);
    const { callers } = await reader.countCallers(hour);
    const { callers: earlier } = await reader.countCallers({ from: EARLIEST_MS, to: hour.from });
    const known = new Set(earlier.map(({ caller }) => caller));
    const first = callers.filter(({ caller }) => !known.has(caller));
    if (first.length === 0) return { incidentAt: null, finding: null };
    const notice = {
      type: 'new_caller',
      range: hour,
      counts: await reader.count(hour),
      callers: first,
    } as const;
    return { incidentAt: null, finding: { occurrence: `new callers from ${formatTime(hour.from)}`, notice } };
  },
};

type HourRanges = ReturnType<typeof hourRanges>;

/** An alert about the last full hour, which has one message for all hours of a row. */
function ofHour(
  find: (
    notification: Notification,
    ranges: HourRanges,
    reader: CountReader,
  ) => Promise<Notice<'spike' | 'drop' | 'threshold'> | undefined>,
): typeof evaluate {
  return async (notification, nowMs, reader) => {
    const ranges = hourRanges(notification.timeZone, nowMs);
    const notice = await find(notification, ranges, reader);
    const { incidentAt } = notification;
    if (notice === undefined) return { incidentAt: null, finding: null };
    if (incidentAt !== null) return { incidentAt, finding: null };
    const { from } = ranges.hour;
    return { incidentAt: from, finding: { occurrence: `${notice.type} from ${formatTime(from)}`, notice } };
  };
}

/** The usual number of an hour; undefined if there is none yet. */
async function findUsual(
  compared: readonly DateRange[],
  { count, findExtent }: CountReader,
): Promise<number | undefined> {
  const from = Math.min(...compared.map((one) => one.from));
  const first = (await findExtent())?.from;
  // Without four weeks of queries there is no usual. One query of 1970, from a wrong clock, does not begin them.
  if (first === undefined || first > from || (await count({ from, to: from + weekMs })).total === 0)
    return undefined;
  return median((await Promise.all(compared.map(count))).map(({ total }) => total));
}

/** Of an even number of values, the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
