/** The paths of the API. `first-requests.ts` loads this before the app, so it imports no library. */
import type { View } from '../navigation/view.js';
import { rangeParameters } from '../time/choice.js';
import type { Interval, Numbers } from './types.js';

export interface ProjectRef {
  readonly organizationId: string;
  readonly projectId: string;
}

/** Whose counts: the path of the API that has them. */
export interface CountsRef {
  readonly path: string;
}

/** The range on screen, and the day since whose start it has changed. */
export interface Explained {
  readonly since: string;
  readonly range: Numbers['range'];
  readonly zone: string;
}

type Parameters = Readonly<Record<string, string>>;

export function organizationPath(organizationId: string): string {
  return `/api/organizations/${encodeURIComponent(organizationId)}`;
}

export function projectsPath(organizationId: string): string {
  return `${organizationPath(organizationId)}/projects`;
}

export function projectPath(organizationId: string, projectId: string): string {
  return `${projectsPath(organizationId)}/${encodeURIComponent(projectId)}`;
}

/** The counts of a project, for members. */
export function countsOf({ organizationId, projectId }: ProjectRef): CountsRef {
  return { path: projectPath(organizationId, projectId) };
}

/** Everything that the overview shows of a range. */
export function numbersPath(ref: CountsRef, view: View): string {
  const { interval } = view;
  return reportPath(ref, 'numbers', {
    ...countsParameters(view),
    ...(interval === null ? {} : { interval }),
  });
}

/** How the queries of a range are distributed over the hours of the week. */
export function weekHoursPath(ref: CountsRef, view: View): string {
  return reportPath(ref, 'week-hours', countsParameters({ ...view, compare: null }));
}

/** The imports that reach back. */
export function importsPath({ organizationId, projectId }: ProjectRef): string {
  return `${projectPath(organizationId, projectId)}/imports`;
}

/** The counts of all time. */
export function wholePath(ref: CountsRef): string {
  return reportPath(ref, 'caller-stats', {});
}

/** The counts of the busiest callers over time. */
export function trendsPath(ref: CountsRef, view: View, interval: Interval): string {
  return reportPath(ref, 'series', { ...timeParameters(view), interval, by: 'caller' });
}

/** The imported counts that the range cuts, and its buckets if there are any. */
export function cutBoundsPath(ref: CountsRef, view: View, interval: Interval | null): string {
  return reportPath(ref, 'imported-counts', {
    ...timeParameters(view),
    ...(interval === null ? {} : { interval }),
  });
}

/** Why the counts of a range have changed. */
export function changesPath(ref: CountsRef, { since, range, zone }: Explained): string {
  const bounds = Object.entries(range).flatMap(([name, bound]) => (bound === null ? [] : [[name, bound]]));
  return reportPath(ref, 'changes', { since, ...Object.fromEntries(bounds), timeZone: zone });
}

/** Which time to count. */
export function timeParameters({ choice, zone, weekStart }: View): Parameters {
  return { ...rangeParameters(choice), timeZone: zone, weekStart };
}

/** Which queries to count, and what to compare them with. */
export function countsParameters(view: View): Parameters {
  const { caller, compare } = view;
  return {
    ...timeParameters(view),
    ...(compare === null ? {} : { compare }),
    ...(caller === null ? {} : { caller }),
  };
}

function reportPath({ path }: CountsRef, report: string, query: Parameters): string {
  const text = new URLSearchParams(query).toString();
  return `${path}/${report}${text === '' ? '' : `?${text}`}`;
}
