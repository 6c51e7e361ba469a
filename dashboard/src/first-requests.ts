/**
 * Sends the requests of the first view while the code of the app is loading. The app takes the responses from `api/early.ts`.
 * Whatever else it needs, it requests itself.
 */
import { addEarly, sendEarly } from './api/early.js';
import { callersPath, countsOf, countsPath, projectsPath, seriesPath } from './api/paths.js';
import type { CountsRef, Shown } from './api/stats.js';
import type { Project, Start } from './api/types.js';
import { withoutBasePath } from './navigation/base-path.js';
import { lastOrganization, lastProject } from './navigation/last-project.js';
import { defaultZone, readChoice, readView } from './navigation/view.js';
import { comparedAt, shownAt } from './pages/overview/shown.js';
import { now } from './time/clock.js';
import { ALL_TIME, type Bounded } from './time/range.js';

const OVERVIEW = /^\/(?:projects\/([^/]+))?$/;

/** Whether the page does not depend on who is signed in. */
export function isPublic({ pathname }: Location): boolean {
  return /^\/(docs|share)\//.test(withoutBasePath(pathname));
}

export async function sendFirstRequests(location: Location): Promise<void> {
  if (isPublic(location)) return;
  const start = await sendStart();
  const view = start && findFirstView(start, location);
  if (view === undefined) return;
  const { counts, shown, compared, isDefault } = view;
  for (const path of [
    countsPath(shown),
    seriesPath(shown),
    callersPath(shown),
    ...(compared === null ? [] : [countsPath({ ...shown, range: compared })]),
    ...(isDefault ? [countsPath({ ...counts, range: ALL_TIME, caller: null })] : []),
  ])
    void sendEarly(path);
}

function sendStart(): Promise<Start | undefined> {
  const start = sendEarly<Start>('/api/start').then((found) => {
    for (const [id, projects] of Object.entries(found?.projects ?? {}))
      addEarly(projectsPath(id), Promise.resolve(projects));
    return found;
  });
  addEarly(
    '/api/session',
    start.then((found) => found?.session),
  );
  return start;
}

/** What the overview shows first. */
interface FirstView {
  readonly counts: CountsRef;
  readonly shown: Shown;
  readonly compared: Bounded | null;
  /** Whether the URL names no range: then the page also needs the counts of all time. */
  readonly isDefault: boolean;
}

/** Undefined for other pages. */
export function findFirstView(start: Start, { pathname, search }: Location): FirstView | undefined {
  const overview = OVERVIEW.exec(withoutBasePath(pathname));
  if (overview === null) return undefined;
  const [, id] = overview;
  const current = id === undefined ? findLast(start) : findProject(start, id);
  if (current === undefined) return undefined;
  const { organizationId, project } = current;
  const counts = countsOf({ organizationId, projectId: project.id });
  const query = new URLSearchParams(search);
  const zone = defaultZone(project);
  const view = readView(query, zone);
  return {
    counts,
    shown: shownAt(counts, view, now()),
    compared: comparedAt(view, now()),
    isDefault: readChoice(query, zone) === null,
  };
}

interface Current {
  readonly organizationId: string;
  readonly project: Project;
}

function findProject({ projects }: Start, id: string): Current | undefined {
  for (const [organizationId, list] of Object.entries(projects)) {
    const project = list.projects.find((one) => encodeURIComponent(one.id) === id);
    if (project !== undefined) return { organizationId, project };
  }
  return undefined;
}

/** The project that the start page leads to. */
function findLast({ session, projects }: Start): Current | undefined {
  const organizationId = lastOrganization(session.organizations)?.id ?? '';
  const project = lastProject(projects[organizationId]?.projects ?? []);
  return project === undefined ? undefined : { organizationId, project };
}
