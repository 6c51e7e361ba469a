/** The last days of all projects of an organization side by side, for the dashboard. */
import { findComparedRange } from '../../domain/calendar/comparison.js';
import { findBucketEdges } from '../../domain/calendar/interval.js';
import { findPeriod } from '../../domain/calendar/period.js';
import { findBeginning } from '../../domain/counting/beginning.js';
import type { DateRange } from '../../domain/counting/date-range.js';
import { createCounter, tile } from '../../domain/counting/tiles.js';
import { formatTime } from '../../domain/format.js';
import { seriesBucketsMax, summarizedProjectsMax } from '../../domain/limits.js';
import type { Rights } from '../../domain/people/member.js';
import type { Project } from '../../domain/projects/project.js';
import { type ProjectSummary, SUMMARY_PERIOD, type Summaries } from '../../domain/projects/summary.js';
import { type Calendar, DEFAULT_WEEK_START } from '../../domain/time/calendar.js';
import { formatWithOffset } from '../../domain/time/date-time.js';
import { offsetAt, parseTimeZone, type TimeZone } from '../../domain/time/time-zone.js';
import { nextTurn } from '../../shared/pauses.js';
import type { Store } from '../../storage/ports/store.js';
import { listReadable } from '../projects.js';

/** Projects that are read at once, so that other requests get connections to the database meanwhile. */
const concurrentProjects = 4;

interface SummariesRequest {
  /** Of projects without a time zone of their own. */
  readonly timeZone: TimeZone;
  readonly nowMs: number;
}

/** Reads a bounded number of projects, a few at a time. */
export async function readSummaries(
  store: Store,
  reader: Rights & { readonly organizationId: string },
  request: SummariesRequest,
): Promise<Summaries> {
  const all = await listReadable(store, reader);
  const listed = all.slice(0, summarizedProjectsMax);
  const projects: ProjectSummary[] = [];
  for (let at = 0; at < listed.length; at += concurrentProjects) {
    const some = listed.slice(at, at + concurrentProjects);
    // An embedded store answers within the turn that asks.
    await nextTurn();
    projects.push(...(await Promise.all(some.map((project) => readSummary(store, project, request)))));
  }
  return { projects: projects.toSorted((one, other) => other.total - one.total), projectsTotal: all.length };
}

async function readSummary(
  store: Store,
  project: Project,
  request: SummariesRequest,
): Promise<ProjectSummary> {
  const { id, name } = project;
  const calendar = calendarOf(project, request);
  const { range, compared, days } = findRanges(calendar, request.nowMs);
  const tiles = tile([...days, compared.from, compared.to]);
  const [counts, extent] = await Promise.all([
    store.counts.countSeries(id, tiles),
    store.counts.findExtent(id),
  ]);
  const began = await findBeginning(extent, (one) => store.counts.count(id, one));
  const countIn = createCounter(tiles, counts);
  const format = (timeMs: number): string => formatWithOffset(timeMs, offsetAt(timeMs, calendar.timeZone));
  const toJson = ({ from, to }: DateRange) => ({ dateFrom: format(from), dateTo: format(to) });
  return {
    id,
    name,
    timeZone: calendar.timeZone,
    range: toJson(range),
    previous: toJson(compared),
    total: countIn(range).total,
    previousTotal: countIn(compared).total,
    days: days.slice(1).map((to, at) => countIn({ from: days[at] ?? to, to }).total),
    recordingBegan: began === null ? null : format(began),
    lastQueryAt: extent === undefined ? null : formatTime(extent.to - 1),
  };
}

/** The project's own calendar. */
function calendarOf({ timeZone: own, weekStart }: Project, { timeZone }: SummariesRequest): Calendar {
  const zone = own === null ? undefined : parseTimeZone(own);
  return { timeZone: zone?.ok ? zone.value : timeZone, weekStart: weekStart ?? DEFAULT_WEEK_START };
}

/** The range, the one to compare with, and the bounds of the days. */
function findRanges(calendar: Calendar, nowMs: number) {
  const range = findPeriod(SUMMARY_PERIOD, calendar, nowMs);
  const compared = findComparedRange(
    { ...range, period: SUMMARY_PERIOD },
    'previous',
    calendar.timeZone,
    nowMs,
  );
  const edges = findBucketEdges(range, 'day', calendar, seriesBucketsMax);
  if (!compared.ok || edges === undefined) throw new Error('Invariant violated: the period has few days.');
  return { range, compared: compared.value, days: edges.map(({ timeMs }) => timeMs) };
}
