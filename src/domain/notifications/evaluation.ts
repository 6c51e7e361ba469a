/** What a check finds: whether there is something to report, and what the message says. */
import { findBeginning } from '../counting/beginning.js';
import type { Counts } from '../counting/counts.js';
import type { DateRange } from '../counting/date-range.js';
import { formatTime } from '../format.js';
import type { WeekStart } from '../time/calendar.js';
import { dayMs, hourMs } from '../time/duration.js';
import type { Notification } from './notification.js';
import { digestRanges, silenceCheckAt, spikeRanges } from './schedule.js';

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

  spike: async ({ factor, minimum, timeZone, incidentAt }, nowMs, { count, findExtent }) => {
    const { hour, compared } = spikeRanges(timeZone, nowMs);
    const from = Math.min(...compared.map((one) => one.from));
    const first = (await findExtent())?.from;
    // Without four weeks of queries there is no usual. One query of 1970, from a wrong clock, does not begin them.
    if (first === undefined || first > from || (await count({ from, to: from + weekMs })).total === 0)
      return { incidentAt: null, finding: null };
    const counts = await count(hour);
    const usual = median((await Promise.all(compared.map(count))).map(({ total }) => total));
    const isSpike = counts.total >= (minimum ?? 1) && counts.total >= (factor ?? 1) * usual;
    if (!isSpike) return { incidentAt: null, finding: null };
    // One message for all hours of a spike.
    if (incidentAt !== null) return { incidentAt, finding: null };
    const notice = { type: 'spike', range: hour, counts, usual } as const;
    return {
      incidentAt: hour.from,
      finding: { occurrence: `spike from ${formatTime(hour.from)}`, notice },
    };
  },
};

/** Of an even number of values, the mean of the two in the middle. */
function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2;
}
