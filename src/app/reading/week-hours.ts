/** How queries are distributed over the hours of the week, for the dashboard. */
import { type Edge, hourOfWeek } from '../../domain/calendar/interval.js';
import { addCounts, type Counts, withTotal, zeroCounts } from '../../domain/counting/counts.js';
import type { CountsRequest } from '../../domain/counting/report-request.js';
import type { WeekStart } from '../../domain/time/calendar.js';
import { nextTurn } from '../../shared/pauses.js';
import { findSeriesEdges, type SeriesStore } from '../../storage/series.js';

const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const;

const hoursInDay = 24;

/** The queries of all hours of a range that have this place in the week. All of them add up to the range. */
interface HourOfWeek extends Counts {
  /** How many such hours are in the range, those that it cuts too. */
  readonly times: number;
}

export interface WeekHours {
  /** The seven, from the start of the week. */
  readonly days: readonly {
    readonly day: (typeof WEEKDAYS)[number];
    /** By the 24 hours on the clock: one that a clock change repeats is added, and one that it skips is missing. */
    readonly hours: readonly HourOfWeek[];
  }[];
}

/** Throws `invalid` if the range has too many hours for a series. */
export async function readWeekHours(
  { counts }: SeriesStore,
  projectId: string,
  question: CountsRequest,
): Promise<WeekHours> {
  return counts.readTogether(projectId, async (reads) => {
    const hourly = { ...question, interval: 'hour', byCaller: false } as const;
    const edges = await findSeriesEdges(reads, projectId, hourly);
    // Finding many takes a few milliseconds.
    await nextTurn();
    const bounds = edges.map(({ timeMs }) => timeMs);
    const series = edges.length === 0 ? [] : await reads.countSeries(projectId, bounds, question.caller);
    return toWeek(edges, series, question.weekStart);
  });
}

function toWeek(edges: readonly Edge[], series: readonly Counts[], weekStart: WeekStart): WeekHours {
  const cells = Array.from({ length: WEEKDAYS.length * hoursInDay }, (): HourOfWeek => {
    return { ...zeroCounts(), total: 0, times: 0 };
  });
  for (const [at, counts] of series.entries()) {
    const hour = hourOfWeek(edges[at] as Edge, weekStart);
    const cell = cells[hour] as HourOfWeek;
    cells[hour] = { ...withTotal(addCounts([cell, counts])), times: cell.times + 1 };
  }
  const first = WEEKDAYS.indexOf(weekStart);
  return {
    days: WEEKDAYS.map((_, at) => ({
      day: WEEKDAYS[(first + at) % WEEKDAYS.length] ?? 'monday',
      hours: cells.slice(at * hoursInDay, (at + 1) * hoursInDay),
    })),
  };
}
