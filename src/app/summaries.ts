/** The last 30 days of all projects of an organization side by side, for the dashboard. */
import type { DateRange } from '../domain/counting/date-range.js';
import { findBucketEdges, startOfUnit, unitAt } from '../domain/counting/interval.js';
import { formatTime } from '../domain/format.js';
import { summarizedProjectsMax } from '../domain/limits.js';
import type { Summaries } from '../domain/projects/summary.js';
import { dayMs, minuteMs } from '../domain/time/duration.js';
import { fromLocal, type TimeZone, toLocal } from '../domain/time/time-zone.js';
import type { Store } from '../storage/ports/store.js';

const summaryDays = 30;

/** Projects that are read at once, so that other requests get connections to the database meanwhile. */
const concurrentProjects = 4;

/** Reads a bounded number of projects, a few at a time. */
export async function readSummaries(
  store: Store,
  organizationId: string,
  { timeZone, nowMs }: { readonly timeZone: TimeZone; readonly nowMs: number },
): Promise<Summaries> {
  const { range, previous } = summaryRanges(timeZone, nowMs);
  const days = findBucketEdges(range, 'day', timeZone, summaryDays) ?? [];
  const bounds = [previous.from, previous.to, ...days.map(({ timeMs }) => timeMs)];
  const all = await store.listProjects(organizationId);
  const listed = all.slice(0, summarizedProjectsMax);
  const projects: Summaries['projects'][number][] = [];
  for (let at = 0; at < listed.length; at += concurrentProjects) {
    const some = listed.slice(at, at + concurrentProjects);
    projects.push(...(await Promise.all(some.map((project) => readSummary(store, project, bounds)))));
  }
  return {
    range: toJson(range),
    previous: toJson(previous),
    projects: projects.toSorted((one, other) => other.total - one.total),
    projectsTotal: all.length,
  };
}

/** The same ranges as those of the overview of one project. */
function summaryRanges(zone: TimeZone, nowMs: number): { range: DateRange; previous: DateRange } {
  const today = unitAt(nowMs, 'day', zone);
  const from = startOfUnit(today - summaryDays + 1, 'day', zone);
  const localMinuteMs = Math.floor(toLocal(nowMs, zone) / minuteMs) * minuteMs;
  const previousTo = fromLocal(localMinuteMs - summaryDays * dayMs, zone);
  return {
    range: { from, to: startOfUnit(today + 1, 'day', zone) },
    previous: {
      from: startOfUnit(today - 2 * summaryDays + 1, 'day', zone),
      to: Math.min(previousTo, from),
    },
  };
}

/** `bounds`: the range to compare with, and the days. Between them is the rest of the day that corresponds to today. */
async function readSummary(
  store: Store,
  { id, name }: { readonly id: string; readonly name: string },
  bounds: readonly number[],
): Promise<Summaries['projects'][number]> {
  const [counts, extent] = await Promise.all([store.countSeries(id, bounds), store.findExtent(id)]);
  const [previous, , ...days] = counts.map(({ total }) => total);
  const total = days.reduce((sum, count) => sum + count, 0);
  return {
    id,
    name,
    total,
    previousTotal: previous ?? 0,
    days,
    lastQueryAt: extent === undefined ? null : formatTime(extent.to - 1),
  };
}

function toJson({ from, to }: DateRange): Summaries['range'] {
  return { dateFrom: formatTime(from), dateTo: formatTime(to) };
}
