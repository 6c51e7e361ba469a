/**
 * Sends the requests of the first view while the code of the app is loading. The app takes the responses from `api/early.ts`.
 * Whatever else it needs, it requests itself.
 */
import { addEarly, sendEarly } from './api/early.js';
import { countsOf, numbersPath, projectsPath, wholePath } from './api/paths.js';
import type { Project, Start } from './api/types.js';
import { withoutBasePath } from './navigation/base-path.js';
import { lastOrganization, lastProject } from './navigation/last-project.js';
import { readChoice, readView } from './navigation/view.js';

const OVERVIEW = /^\/(?:projects\/([^/]+))?$/;

/** Whether the page does not depend on who is signed in. */
export function isPublic({ pathname }: Location): boolean {
  return /^\/(docs|share)\//.test(withoutBasePath(pathname));
}

export async function sendFirstRequests(location: Location): Promise<void> {
  if (isPublic(location)) return;
  const start = await sendStart();
  for (const path of start === undefined ? [] : overviewPaths(start, location)) void sendEarly(path);
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

/** The paths of what the overview shows first; none for other pages. */
export function overviewPaths(start: Start, { pathname, search }: Location): readonly string[] {
  const overview = OVERVIEW.exec(withoutBasePath(pathname));
  if (overview === null) return [];
  const [, id] = overview;
  const current = id === undefined ? findLast(start) : findProject(start, id);
  if (current === undefined) return [];
  const { organizationId, project } = current;
  const counts = countsOf({ organizationId, projectId: project.id });
  const query = new URLSearchParams(search);
  const numbers = numbersPath(counts, readView(query, project));
  // The counts of all time decide which range an address without one shows.
  return readChoice(query) === null ? [numbers, wholePath(counts)] : [numbers];
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
