/**
 * A calendar that shares no code with the domain: it asks the platform for the local time of every half hour of some years, and
 * finds everything by looking. There is a number of queries in each of these half hours.
 */
import type { Comparison, Interval, Period } from '../../src/domain/calendar/names.js';
import type { WeekStart } from '../../src/domain/time/calendar.js';
import { dayMs } from '../../src/domain/time/duration.js';

const halfHourMs = 1_800_000;
const begin = Date.UTC(2021, 11, 1);
const end = Date.UTC(2027, 11, 1);

/** A local date: days since 1970. */
type Day = number;

/** A range of moments; null if there is none. */
type Span = { readonly from: number; readonly to: number } | null;

interface NaiveBucket {
  readonly queries: number;
  /** Null without counterpart. */
  readonly before: number | null;
}

export interface NaiveAnswer {
  readonly queries: number;
  readonly before: number;
  readonly buckets: readonly NaiveBucket[];
}

export interface NaiveQuestion {
  /** A period, or its first day and the day after the last. */
  readonly asked: Exclude<Period, 'all'> | { readonly first: Day; readonly end: Day };
  readonly compare: Comparison;
  readonly interval: Interval;
  readonly weekStart: WeekStart;
  readonly nowMs: number;
}

interface Dates {
  readonly first: Day;
  readonly end: Day;
  /** How far the comparison with the period before goes back. */
  readonly back: { readonly days: number } | { readonly months: number };
}

const dateOf = (day: Day) => new Date(day * dayMs);
const dayOf = (year: number, month: number, date: number): Day => Date.UTC(year, month, date) / dayMs;
const monthOf = (day: Day) => dateOf(day).getUTCFullYear() * 12 + dateOf(day).getUTCMonth();
const firstOfMonth = (month: number): Day => dayOf(Math.floor(month / 12), month % 12, 1);
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

function startOfWeek(day: Day, weekStart: WeekStart): Day {
  let start = day;
  while (weekdays[dateOf(start).getUTCDay()] !== weekStart) start--;
  return start;
}

/** The day of the same number so many months before; undefined if that month has none. */
function sameDayBefore(day: Day, months: number): Day | undefined {
  const month = monthOf(day) - months;
  const found = firstOfMonth(month) + dateOf(day).getUTCDate() - 1;
  return found < firstOfMonth(month + 1) ? found : undefined;
}

export class NaiveCalendar {
  readonly #local: readonly number[];
  /** The latest local time shown up to each half hour. */
  readonly #latest: readonly number[];
  /** The queries before each half hour. */
  readonly #queriesBefore: readonly number[];
  readonly #format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
    const count = (end - begin) / halfHourMs;
    this.#local = Array.from({ length: count }, (_, at) => this.#shownAt(begin + at * halfHourMs));
    let latest = Number.NEGATIVE_INFINITY;
    this.#latest = this.#local.map((local) => {
      latest = Math.max(latest, local);
      return latest;
    });
    let queries = 0;
    this.#queriesBefore = [0, ...this.#local.map((_, at) => (queries += 1 + ((at * 7919) % 5)))];
  }

  #localAt(timeMs: number): number {
    return this.#local[(timeMs - begin) / halfHourMs] ?? this.#shownAt(timeMs);
  }

  /** What the platform's clock shows. */
  #shownAt(timeMs: number): number {
    const milliseconds = ((timeMs % 1000) + 1000) % 1000;
    return Date.parse(`${this.#format.format(timeMs - milliseconds).replace(' ', 'T')}Z`) + milliseconds;
  }

  /** The queries in a range: those of each half hour are at its beginning. */
  count(span: Span): number {
    if (span === null || span.from >= span.to) return 0;
    const before = (timeMs: number) =>
      this.#queriesBefore[Math.ceil((timeMs - begin) / halfHourMs)] ?? Number.NaN;
    return before(span.to) - before(span.from);
  }

  /** The first moment at which the clock shows a local time or a later one. */
  firstMoment(local: number): number {
    let [low, high] = [0, this.#latest.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#latest[middle] ?? 0) < local) low = middle + 1;
      else high = middle;
    }
    const [time, before] = [begin + low * halfHourMs, this.#local[low - 1] ?? Number.NaN];
    return Math.min(time, time - halfHourMs + (local - before));
  }

  /** The latest local time that was shown up to a moment. */
  #latestLocal(timeMs: number): number {
    const at = Math.floor((timeMs - begin) / halfHourMs);
    return Math.max(this.#latest[at] ?? Number.NaN, this.#localAt(timeMs));
  }

  answer(question: NaiveQuestion): NaiveAnswer {
    const { compare, nowMs } = question;
    const { first, end: endDay, back: toPeriodBefore } = this.#datesOf(question);
    const back = compare === 'previous' ? toPeriodBefore : { months: 12 };
    const own = { from: this.firstMoment(first * dayMs), to: this.firstMoment(endDay * dayMs) };
    const compared = { from: this.#boundBefore(first, back), to: this.#boundBefore(endDay, back) };
    if (own.to > nowMs) {
      const latest = this.#latestLocal(nowMs);
      const today = Math.floor(latest / dayMs);
      const day = this.#before(today, back);
      const cut =
        day === undefined
          ? this.#boundBefore(today, back)
          : this.firstMoment(day * dayMs + (latest - today * dayMs));
      compared.to = Math.max(compared.from, Math.min(compared.to, cut));
    }
    const spans =
      question.interval === 'hour' ? this.#hours(own, back) : this.#units(question, { first, endDay }, back);
    return {
      queries: this.count(own),
      before: this.count(compared),
      buckets: spans.map(({ bucket, counterpart }) => {
        const to = Math.min(counterpart?.to ?? 0, compared.to);
        const isThere = counterpart !== null && counterpart.from < to;
        return {
          queries: this.count(bucket),
          before: isThere ? this.count({ from: counterpart.from, to }) : null,
        };
      }),
    };
  }

  #datesOf({ asked, weekStart, nowMs }: NaiveQuestion): Dates {
    const today = Math.floor(this.#latestLocal(nowMs) / dayMs);
    if (typeof asked === 'object') return { ...asked, back: { days: asked.end - asked.first } };
    const days = (first: Day, endDay: Day): Dates => ({ first, end: endDay, back: { days: endDay - first } });
    const week = startOfWeek(today, weekStart);
    const month = monthOf(today);
    const months = (from: number, to: number): Dates => ({
      first: firstOfMonth(from),
      end: firstOfMonth(to),
      back: { months: to - from },
    });
    const toDate = (dates: Dates): Dates => ({ ...dates, end: today + 1 });
    const quarter = month - (month % 3);
    const year = month - (month % 12);
    switch (asked) {
      case 'today':
        return days(today, today + 1);
      case 'yesterday':
        return days(today - 1, today);
      case 'last-7-days':
      case 'last-30-days':
      case 'last-90-days':
        return days(today - Number(asked.split('-')[1]), today);
      case '7-days-to-date':
      case '30-days-to-date':
      case '90-days-to-date':
        return days(today + 1 - Number.parseInt(asked, 10), today + 1);
      case 'this-week':
        return toDate(days(week, week + 7));
      case 'last-week':
        return days(week - 7, week);
      case 'this-month':
        return toDate(months(month, month + 1));
      case 'last-month':
        return months(month - 1, month);
      case 'this-quarter':
        return toDate(months(quarter, quarter + 3));
      case 'last-quarter':
        return months(quarter - 3, quarter);
      case 'this-year':
        return toDate(months(year, year + 12));
      case 'last-year':
        return months(year - 12, year);
      case 'last-12-months':
        return months(month - 12, month);
      case '12-months-to-date':
        return toDate(months(month - 11, month + 1));
    }
  }

  #before(day: Day, back: Dates['back']): Day | undefined {
    return 'days' in back ? day - back.days : sameDayBefore(day, back.months);
  }

  /** The start of the day before; of the next month if there is no such day. */
  #boundBefore(day: Day, back: Dates['back']): number {
    const before = this.#before(day, back);
    const month = monthOf(day) - ('months' in back ? back.months : 0);
    return this.firstMoment((before ?? firstOfMonth(month + 1)) * dayMs);
  }

  /** The days, weeks and so on in a range, each with its counterpart. */
  #units(
    { interval, weekStart }: NaiveQuestion,
    { first, endDay }: { readonly first: Day; readonly endDay: Day },
    back: Dates['back'],
  ): { readonly bucket: Span; readonly counterpart: Span }[] {
    const unitOf = (day: Day): number => {
      if (interval === 'day') return day;
      if (interval === 'week') return startOfWeek(day, weekStart);
      return Math.floor(monthOf(day) / { month: 1, quarter: 3, year: 12, hour: Number.NaN }[interval]);
    };
    const units = new Map<number, Day[]>();
    for (let day = first; day < endDay; day++)
      units.set(unitOf(day), [...(units.get(unitOf(day)) ?? []), day]);
    return [...units.values()].map((days) => {
      const [from, to] = [days[0] ?? 0, (days.at(-1) ?? 0) + 1];
      const counterpart =
        interval === 'day' || interval === 'week'
          ? this.#hullBefore(days, back)
          : { from: this.#boundBefore(from, back), to: this.#boundBefore(to, back) };
      return {
        bucket: { from: this.firstMoment(from * dayMs), to: this.firstMoment(to * dayMs) },
        counterpart,
      };
    });
  }

  /** From the first day before that exists to the last one. */
  #hullBefore(days: readonly Day[], back: Dates['back']): Span {
    const before = days.map((day) => this.#before(day, back)).filter((day) => day !== undefined);
    const [from, to] = [before[0], before.at(-1)];
    if (from === undefined || to === undefined) return null;
    return { from: this.firstMoment(from * dayMs), to: this.firstMoment((to + 1) * dayMs) };
  }

  /** The hours that the clock shows in a range, each with the one that it shows alike. */
  #hours(
    own: { readonly from: number; readonly to: number },
    back: Dates['back'],
  ): { readonly bucket: Span; readonly counterpart: Span }[] {
    const hours = new Map<string, number[]>();
    for (let time = own.from; time < own.to; time += halfHourMs) {
      const local = this.#localAt(time);
      const name = `${Math.floor(local / (2 * halfHourMs))} ${local - time}`;
      hours.set(name, [...(hours.get(name) ?? []), time]);
    }
    return [...hours.values()].map((times) => ({
      bucket: { from: times[0] ?? 0, to: (times.at(-1) ?? 0) + halfHourMs },
      counterpart: this.#hourBefore(times, back),
    }));
  }

  #hourBefore(times: readonly number[], back: Dates['back']): Span {
    const before = times.map((time) => {
      const local = this.#localAt(time);
      // The clock has shown it before: a clock change repeats it.
      if (this.firstMoment(local) !== time) return undefined;
      const day = this.#before(Math.floor(local / dayMs), back);
      if (day === undefined) return undefined;
      const localBefore = day * dayMs + (local % dayMs);
      const found = this.firstMoment(localBefore);
      return this.#localAt(found) === localBefore ? found : undefined;
    });
    const from = before[0];
    if (from === undefined || before.some((time, at) => time !== from + at * halfHourMs)) return null;
    return { from, to: from + times.length * halfHourMs };
  }
}
