/** The paths of the API. `first-requests.ts` loads this before the app, so it imports no library. */
import { boundParameters } from '../format/curl.js';
import type { CountsRef, ProjectRef, Shown } from './stats.js';

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
  return { projectId, path: projectPath(organizationId, projectId) };
}

export type Asked = Pick<Shown, 'path' | 'range' | 'caller'>;

export function countsPath(asked: Asked): string {
  return reportPath(asked, 'caller-stats', askedParameters(asked));
}

export function seriesPath(asked: Asked & Pick<Shown, 'interval' | 'zone'>): string {
  const { interval, zone } = asked;
  return reportPath(asked, 'series', { ...askedParameters(asked), interval, timeZone: zone });
}

export function callersPath(asked: Pick<Shown, 'path' | 'range'>): string {
  return reportPath(asked, 'callers', boundParameters(asked.range));
}

/** The parameters of counts and series. */
function askedParameters({ range, caller }: Asked): Record<string, string> {
  return { ...boundParameters(range), ...(caller === null ? {} : { caller }) };
}

export function reportPath(
  { path }: Pick<CountsRef, 'path'>,
  report: string,
  query: Readonly<Record<string, string>>,
): string {
  const text = new URLSearchParams(query).toString();
  return `${path}/${report}${text === '' ? '' : `?${text}`}`;
}
